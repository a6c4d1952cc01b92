// The chat of the console as a person uses it: answers that grow, a reload in the middle, a question answered in place.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from '../console/support/console-house.ts'
import { lookAt, PHONE, signIn } from '../console/support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 60_000 }

inBrowser('an answer grows while it is written, and a reload in the middle misses nothing', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house)
  // The start page is a chat with the agent.
  await page.waitForURL('**/console/chat')
  const field = page.getByRole('textbox', { name: /Message helper/ })
  await field.fill('hello')
  await field.press('Enter')
  await page.waitForURL('**/console/chat/*')
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.getByRole('heading', { name: 'Tides' }).waitFor()
  await talk.getByRole('cell', { name: 'Emden' }).waitFor()
  expect(await talk.locator('strong', { hasText: 'before' }).count()).toBe(1)

  const next = page.getByRole('textbox', { name: /Message helper|next message/ })
  await next.fill('hold')
  await next.press('Enter')
  await talk.getByText('Before.').waitFor()
  await page.reload()
  await talk.getByText('Before.').waitFor()
  await page.getByRole('button', { name: /Stop run/ }).waitFor()
  house.release()
  await talk.getByText('After.').waitFor()

  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  expect(await talk.getByText('Before.').count()).toBe(1)
  expect(complaints).toEqual([])
})

inBrowser('a run that asks is answered in the chat, and can be stopped with a key', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat', viewport: PHONE, hasTouch: true })
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('note')
  await page.getByRole('button', { name: 'Send' }).tap()
  const dock = page.getByRole('region', { name: 'Waits for an answer' })
  await dock.getByText('The tide turns at four.').first().waitFor()
  const { tooWide, primaryButtons } = await lookAt(page)
  expect([tooWide, primaryButtons.length]).toEqual([0, 1])
  await dock.getByRole('button', { name: /^Approve/, disabled: false }).tap()
  await page.getByText('Noted.').waitFor()
  expect(house.ran).toEqual([{ text: 'The tide turns at four.', copies: 1 }])

  await field.fill('hold')
  await page.getByRole('button', { name: 'Send' }).tap()
  await page.getByText('Before.').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('.')
  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  const { sessions } = await house.client.sessions.list({ limit: 1 })
  const { runs } = await house.client.sessions.runs(sessions[0]?.session_id ?? '')
  expect(runs.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'completed', 'completed'])
  expect(complaints).toEqual([])
})

inBrowser('a message that was written without a server goes out when it is back, once', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat' })
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('hello')
  await field.press('Enter')
  await page.getByRole('heading', { name: 'Tides' }).waitFor()

  await house.stop()
  await page.getByText('Not connected.', { exact: true }).waitFor()
  await field.fill('Are you there?')
  await field.press('Enter')
  await house.start()
  await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached' })

  await page.getByText('Aye.').waitFor(LATE)
  expect(await page.getByText('Are you there?').count()).toBe(1)
  expect(complaints).toEqual([])
})

inBrowser('a failed run is tried again, its message edited, and each version can be read', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const id = await house.say('hello')
  const { page, complaints } = await signIn(browser, house, { at: `/chat/${id}` })
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.getByRole('heading', { name: 'Tides' }).waitFor()
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('fail')
  await field.press('Enter')
  await talk.getByText('The model failed.').waitFor()
  expect(await talk.getByText('model_failed').isVisible()).toBe(false)
  await talk.getByText('What exactly').click()
  await talk.getByText('model_failed').waitFor()

  await talk.getByRole('button', { name: 'Try again' }).click()
  const ofAnswer = talk.getByRole('group', { name: 'Versions of this answer' })
  await ofAnswer.getByText('2 of 2').waitFor()

  await field.fill('My own next words')
  await talk.getByRole('button', { name: 'Edit message' }).last().click()
  expect(await field.inputValue()).toBe('fail')
  await field.fill('hold')
  await field.press('Enter')
  await talk.getByText('Before.').waitFor()
  expect(await field.inputValue()).toBe('My own next words')
  const ofMessage = talk.getByRole('group', { name: 'Versions of this message' })
  await ofMessage.getByText('2 of 2').waitFor()
  expect(await talk.getByText('The model failed.').count()).toBe(0)

  // The run goes on while somebody reads what was before it, and a reload keeps the place.
  await ofMessage.getByRole('button', { name: 'earlier version of this message' }).click()
  await talk.getByText('The model failed.').waitFor()
  await page.reload()
  await page.getByText('You are reading an earlier version.').waitFor()
  await ofAnswer.getByText('2 of 2').waitFor()
  await ofAnswer.getByRole('button', { name: 'earlier version of this answer' }).click()
  await ofAnswer.getByText('1 of 2').waitFor()
  expect(await talk.getByText('Before.').count()).toBe(0)
  expect(await talk.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  house.release()
  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  expect(await talk.getByText('After.').count()).toBe(0)
  await page.getByRole('button', { name: 'Show the newest' }).click()
  await talk.getByText('After.').waitFor()

  // A link to a message in an old branch opens that branch.
  const { events } = await house.client.sessions.log(id)
  const starts = events.flatMap(({ event }) => (event.type === 'RUN_STARTED' ? [event.input] : [])) as {
    messages: { id: string }[]
  }[]
  await page.goto(`${house.url}/console/chat/${id}?message=${starts[1]?.messages[0]?.id}`)
  await ofMessage.getByText('1 of 2').waitFor()
  await page.locator('[data-wanted]').getByText('fail').waitFor()
  // In the list of sessions it is the same conversation.
  await page.goto(`${house.url}/console/sessions/${id}`)
  await ofMessage.getByText('2 of 2').waitFor()
  await talk.getByRole('button', { name: /Answer again/ }).click()
  await ofAnswer.getByText('2 of 2').waitFor()
  house.release()
  expect(complaints).toEqual([])
})

inBrowser(
  'an answer of 300,000 characters is whole, formatted from its first to its last word, and light',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/chat' })
    const field = page.getByRole('textbox', { name: /Message helper|next message/ })
    await field.fill('epic')
    await field.press('Enter')
    const talk = page.getByRole('list', { name: 'Conversation' })
    // The end is in sight while it is written, and afterwards.
    await talk.getByRole('heading', { name: 'Verse 1199' }).waitFor()
    await talk.locator('strong', { hasText: 'verse 1199' }).waitFor()
    await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
    const nodes = () => page.evaluate(`document.querySelectorAll('*').length`) as Promise<number>
    expect(await nodes()).toBeLessThan(1_000)

    await page.reload()
    await talk.getByRole('heading', { name: 'Verse 1199' }).waitFor()
    // A reader scrolls from the end to the beginning and meets every verse.
    const met = new Set<string>()
    for (let turns = 0; !met.has('Verse 0') && turns < 400; turns += 1) {
      for (const name of await talk.locator('h3').allTextContents()) met.add(name)
      await talk.evaluate((box) => box.scrollBy(0, -box.clientHeight * 4))
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    }
    expect(met.size).toBe(1_200)
    expect(await nodes()).toBeLessThan(1_000)
    expect(complaints).toEqual([])
  },
)
