// `useChat` of the AI SDK on a React page in a real browser, against the real server.

import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type BuiltExample, buildExample } from './built-example.ts'
import { connectBrowser, openChatPage } from './chat-page.ts'
import { startChatServer } from './chat-server.ts'

/** Generous: a busy machine must not fail a test. */
const soon = { timeout: 20_000 }

/** A page of the AI SDK brings no tools: the agent's file names those that the page runs. */
const PAGE_TOOLS = `
tools:
  - type: client
    name: set_background
    description: Paints the page.
    parameters: { type: object, properties: { color: { type: string } } }
`

let browser: Browser
let built: BuiltExample

beforeAll(async () => {
  browser = await connectBrowser()
  built = await buildExample('use-chat')
}, 120_000)

afterAll(async () => {
  await browser.close()
  await built[Symbol.asyncDispose]()
})

async function openChat(flags: Record<string, string> = {}) {
  const server = await startChatServer(flags, PAGE_TOOLS)
  onTestFinished(() => server[Symbol.asyncDispose]())
  const page = await openChatPage(browser, { at: built.url, server: server.url, token: server.userToken })
  onTestFinished(() => page.context().close())
  return { server, page }
}

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message', { exact: true }).fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).first().click()

const said = (page: Page) =>
  page
    .locator('[data-role]')
    .evaluateAll((elements) =>
      elements.map((element) => [
        element.getAttribute('data-role'),
        ...[...element.querySelectorAll(':scope > p')].map(({ textContent }) => textContent),
      ]),
    )

const status = (page: Page) => page.locator('output').textContent()

test('shows an answer while it is written, and a tool of the server with what it says', async () => {
  const { server, page } = await openChat()

  await say(page, 'look out')
  await expect
    .poll(() => page.locator('[data-tool="tool-look"]').getAttribute('data-state'), soon)
    .toBe('input-available')
  expect(await said(page)).toEqual([
    ['user', 'look out'],
    ['assistant', 'Let me see.', '{"side":"starboard"}'],
  ])
  server.showShip()

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'look out'],
      ['assistant', 'Let me see.', '{"side":"starboard"}', 'I see a ship.'],
    ])
  expect(await page.locator('[data-tool="tool-look"]').textContent()).toBe('tool-look output-available "a ship"')
})

test('runs a tool of the page, and the agent goes on with its result', async () => {
  const { server, page } = await openChat()

  await say(page, 'paint')

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'paint'],
      ['assistant', 'I have painted it.'],
    ])
  expect(await page.evaluate('document.body.style.background')).toBe('teal')
  const session = await server.engine.sessions.get('local_user', 'talk')
  const stored = await server.engine.messages.page(session.id, 100)
  expect(stored.find(({ role }) => role === 'tool')).toMatchObject({ content: '{"painted":"teal"}' })
})

test('lets its user approve a call, also after a reload, and it runs once', async () => {
  const { server, page } = await openChat()
  await say(page, 'note it')
  await page.locator('[data-approval]').waitFor()
  await page.reload()
  await page.locator('[data-approval]').waitFor()
  expect(server.noted).toEqual([])

  await press(page, 'Approve')

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'note it'],
      ['assistant', 'That is settled.'],
    ])
  expect(await page.locator('[data-tool="tool-note"]').textContent()).toBe('tool-note output-available "noted bob"')
  expect(server.noted).toEqual(['bob'])
})

test('lets its user reject a call, which then never runs', async () => {
  const { server, page } = await openChat()
  await say(page, 'note it')

  await press(page, 'Reject')

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'note it'],
      ['assistant', 'That is settled.'],
    ])
  expect(await page.locator('[data-tool="tool-note"]').getAttribute('data-state')).toBe('output-denied')
  expect(server.noted).toEqual([])
})

test('shows the whole answer after a reload in its middle', async () => {
  const { server, page } = await openChat()
  await say(page, 'look out')
  await expect
    .poll(() => page.locator('[data-tool="tool-look"]').getAttribute('data-state'), soon)
    .toBe('input-available')

  await page.reload()
  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'look out'],
      ['assistant', 'Let me see.', '{"side":"starboard"}'],
    ])
  await expect.poll(() => status(page), soon).toBe('streaming')
  server.showShip()

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'look out'],
      ['assistant', 'Let me see.', '{"side":"starboard"}', 'I see a ship.'],
    ])
  await expect.poll(() => status(page), soon).toBe('ready')
})

test('stops an answer, which ends once the grace is over, and the next message is answered at once', async () => {
  const { server, page } = await openChat({ 'limits.disconnect_grace': '0' })
  await say(page, 'talk on')
  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'talk on'],
      ['assistant', 'Once upon a time'],
    ])

  await press(page, 'Stop')
  await expect.poll(() => server.engine.stats().runsFinished.cancelled, soon).toBe(1)
  await say(page, 'hello')

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'talk on'],
      ['assistant', 'Once upon a time'],
      ['user', 'hello'],
      ['assistant', 'Good day.'],
    ])
})

test('asks for another answer, and edits a message', async () => {
  const { server, page } = await openChat()
  await say(page, 'first question')
  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'first question'],
      ['assistant', 'First answer.'],
    ])
  await expect.poll(() => status(page), soon).toBe('ready')

  await press(page, 'Again')
  await expect.poll(() => server.engine.stats().runsFinished.completed, soon).toBe(2)
  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'first question'],
      ['assistant', 'First answer.'],
    ])
  await press(page, 'Ask better')

  await expect
    .poll(() => said(page), soon)
    .toEqual([
      ['user', 'better question'],
      ['assistant', 'Better answer.'],
    ])
  const session = await server.engine.sessions.get('local_user', 'talk')
  expect((await server.engine.messages.page(session.id, 100)).map(({ content }) => content)).toEqual([
    'better question',
    'Better answer.',
  ])
})

test('says what the server refuses', async () => {
  const { page } = await openChat()

  await say(page, 'fail')

  await expect
    .poll(() => page.getByRole('alert').allInnerTexts(), soon)
    .toEqual([expect.stringContaining('out of order')])
})
