// The only test in `npm test` with a real React client in a real browser. `npm run test:clients` has all the others.

import { expect, inject, test } from 'vitest'
import { buildExample } from '../clients/built-example.ts'
import { connectBrowser, openAssistantUi } from '../clients/chat-page.ts'
import { startChatServer } from '../clients/chat-server.ts'

const soon = { timeout: 60_000 }

test.skipIf(inject('browser') === null)(
  'a person talks, stops an answer, lets the page do something, allows a call, and reloads',
  { timeout: 120_000 },
  async () => {
    await using example = await buildExample('assistant-ui')
    await using server = await startChatServer({ 'limits.disconnect_grace': 'never' })
    await using browser = await connectBrowser()
    const chat = await openAssistantUi(browser, { at: example.url, server: server.url, token: server.userToken })

    await chat.say('hello')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Good day.'])
    await chat.say('talk on')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'Once upon a time'])
    // The page only closes the connection. Its next message does not wait for the grace time, which never ends here.
    await chat.stop()
    await chat.say('paint')
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'I have painted it.'])
    await chat.say('note it')
    // Somebody without a token is told how to get one, and the call still waits.
    await chat.page.route(`${server.url}/`, async (route) => {
      const { authorization: _, ...headers } = route.request().headers()
      await route.continue({ headers })
    })
    await chat.approval.getByRole('button', { name: 'Approve' }).click()
    await expect
      .poll(async () => (await chat.failure.allInnerTexts()).at(-1), soon)
      .toContain('`quarterdeck tokens create --role user` prints one.')
    await chat.page.unroute(`${server.url}/`)
    await chat.approval.getByRole('button', { name: 'Approve' }).click()
    await expect.poll(async () => (await chat.said()).at(-1), soon).toEqual(['assistant', 'That is settled.'])
    await chat.page.reload()

    await expect
      .poll(() => chat.said(), soon)
      .toEqual([
        ['user', 'hello'],
        ['assistant', 'Good day.'],
        ['user', 'talk on'],
        ['assistant', expect.stringMatching(/^Once upon a time/)],
        ['user', 'paint'],
        ['assistant', 'I have painted it.'],
        ['user', 'note it'],
        ['assistant', 'That is settled.'],
      ])
    expect(server.noted).toEqual(['bob'])
  },
)
