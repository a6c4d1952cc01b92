// The documents of an agent on its page, and the sources of an answer in the chat, the transcript and on the page for users.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { KnowledgeFound, KnowledgeIndex, Passage } from '../../src/client/client.ts'
import { LOCAL_USER } from '../../src/domain/session/session.ts'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { AGENT, type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, signIn } from './support/console-page.ts'
import { HIDDEN, SCRIPT } from './support/hostile.ts'

const out = join(import.meta.dirname, 'out')
const undo = new AsyncDisposableStack()
let browser: Browser
let house: ConsoleHouse

const SESSION = '01940000-0000-7000-8000-00000000beef'
const TEXT = 'Parents get 20 days for each child, to be taken in its first three years.'
const leave = { file: 'leave.md', page: 4, heading: 'Leave > Parental leave' }
const sources = [
  { id: 'p3', number: 3, tool: 'handbook', ...leave, text: TEXT },
  { id: 'p4', number: 4, tool: 'handbook', file: `pay ${HIDDEN}.xlsx`, sheet: 'May', text: '', changed: true },
]
const ANSWER =
  'Parents get **20 days** [3], and their pay goes on [4]. They keep `list[3]` too [7].\n\n- More in [3, 4].'

const index: KnowledgeIndex = {
  ...{ id: 'k-1', used_by: [{ agent: AGENT, tool: 'handbook' }], sources: ['./handbook', './rules/**/*.pdf'] },
  ...{ embedding: 'openai/text-embedding-3-small', state: 'indexing', why: null, files: 42, passages: 1_310 },
  ...{ progress: { done: 12, total: 40, phase: 'reading' }, embedded: 900, updated_at: '2026-11-19T08:00:00.000Z' },
  problems: Array.from({ length: 7 }, (_, i) => ({ file: `old-${i}\u202e.doc`, why: 'It is older than 2007.' })),
  problem_count: 1_200,
}
const passageOf = (id: string, text: string): Passage => ({ id, ...leave, text })
const found: KnowledgeFound = {
  hits: [
    { passage: passageOf('p3', `${TEXT} ${SCRIPT}${HIDDEN}`), score: 7.4, by_words: 1, by_meaning: 3 },
    { passage: passageOf('p5', 'They tell us two months before.'), score: null, by_words: null, by_meaning: null },
  ],
  lacks: ['28 files are not read yet.'],
}

async function seed(dataDir: string): Promise<void> {
  const store = createSqliteStore({
    path: join(dataDir, 'quarterdeck.db'),
    fatal(error: Error): never {
      throw error
    },
  })
  const [runId, messageId, at] = ['01940000-0000-7000-8000-00000000f00d', 'answer-1', Date.now() - 60_000]
  const thread = { threadId: SESSION, runId }
  const content = { messageId, sources, not_found: [7] }
  const question = { id: 'question-1', role: 'user', content: 'How long is parental leave?' }
  const events = [
    { type: 'RUN_STARTED', ...thread, input: { ...thread, messages: [question] } },
    { type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: ANSWER },
    { type: 'TEXT_MESSAGE_END', messageId },
    { type: 'ACTIVITY_SNAPSHOT', messageId: 'sources-1', activityType: 'SOURCES', content },
    { type: 'RUN_FINISHED', ...thread },
  ]
  const { results } = await store.commit([
    {
      type: 'import_session',
      session: {
        ...{ id: SESSION, owner: LOCAL_USER, agent: AGENT, activeAgent: null, status: 'active', createdAt: at },
        ...{ lastActivity: at, terminatedAt: null, lastTool: null, metadata: {}, alias: null, messageCount: 0 },
        ...{ state: undefined, unlisted: false },
      },
      runs: [
        {
          ...{ id: runId, sessionId: SESSION, owner: LOCAL_USER, agent: AGENT, wireId: runId, parentRunId: null },
          ...{ status: 'completed', origin: 'reader', createdAt: at, startedAt: at, finishedAt: at, usage: [] },
          input: { messages: [], instructions: [], context: [], clientTools: [] },
          ...{ error: null, cancelRequested: false, firstSeq: 1, lastSeq: events.length, fence: 1, leaseOwner: null },
        },
      ],
      messages: [],
      entries: events.map((event, i) => ({
        ...{ seq: i + 1, runId, kind: 'event' as const, data: JSON.stringify({ ...event, timestamp: at }) },
      })),
    },
  ])
  for (const result of results) if (!result.ok) throw result.error
  await store.close()
}

beforeAll(async () => {
  mkdirSync(out, { recursive: true })
  browser = undo.use(await connectBrowser())
  house = undo.use(await openConsoleHouse({ seed }))
})
afterAll(() => undo.disposeAsync())

/** Answers for the documents of the agent. What was asked is in the list. */
async function answerFor(page: Page): Promise<string[]> {
  const asked: string[] = []
  const around = [
    passageOf('p2', 'Before it.'),
    passageOf('p3', `${TEXT} ${SCRIPT}${HIDDEN}`),
    passageOf('p5', 'After it.'),
  ]
  await page.route(/\/knowledge(?:\/.*)?$/, async (route: Route) => {
    const request = route.request()
    const { pathname, search } = new URL(request.url())
    asked.push(`${request.method()} ${pathname}${search}`)
    if (pathname === '/knowledge') return route.fulfill({ json: { indexes: [index] } })
    if (pathname === '/knowledge/search') return route.fulfill({ json: found })
    if (pathname === '/knowledge/passages/p3')
      return route.fulfill({ json: { passages: search.includes('before=2') ? around : around.slice(1, 2) } })
    if (pathname.endsWith('/update')) return route.fulfill({ status: 202, json: index })
    if (request.method() === 'DELETE') return route.fulfill({ status: 204 })
    const json = { status: 404, code: 'record_not_found', title: 'Not found', detail: 'It is being read again.' }
    return route.fulfill({ status: 404, contentType: 'application/problem+json', json })
  })
  return asked
}

/** A desk and a phone, both themes: nothing in the way of anybody, nothing too wide or too small. */
async function lookFromAllSides(page: Page, name: string): Promise<void> {
  const troubles: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 800 })
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(out, `knowledge-${name}-${width}-${colorScheme}.png`) })
      const { tooWide, smallTargets } = await lookAt(page)
      const wide = tooWide > 0 ? [`${tooWide} px too wide`] : []
      troubles.push(...[...(await barriersOf(page)), ...smallTargets, ...wide].map((one) => `${width} ${one}`))
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  expect(troubles).toEqual([])
}

test('an operator sees how the documents of an agent are doing, tries a search and clears them', async () => {
  const { page, complaints, go } = await signIn(browser, house, { serviceWorkers: 'block', reducedMotion: 'reduce' })
  const asked = await answerFor(page)
  await go(`/agents/${AGENT}`)
  await page.getByText('Reading: 12 of 40').first().waitFor()
  await page.getByText('900, with openai/text-embedding-3-small').waitFor()
  await page.getByText('1,200 files could not be read').click()
  await page.getByText('And 1,193 more').waitFor()
  await page.getByLabel('Try a search').fill('parental leave')
  await page.getByLabel('Try a search').press('Enter')
  const hits = page.getByRole('list', { name: 'What was found' }).getByRole('listitem')
  await expect.poll(() => hits.count()).toBe(2)
  expect(await hits.nth(0).innerText()).toContain('words 1, meaning 3')
  expect(await hits.nth(1).innerText()).toContain('beside the hit above')
  await page.getByText('28 files are not read yet.').scrollIntoViewIfNeeded()
  await lookFromAllSides(page, 'agent')

  await page.getByRole('button', { name: 'Look for changes' }).click()
  await page.getByText('It looks for changes').waitFor()
  await page.getByRole('button', { name: 'Clear and read again' }).click()
  await page.getByRole('dialog').getByText('embedded again with').waitFor()
  await lookFromAllSides(page, 'clear')
  await page.getByRole('dialog').getByRole('button', { name: 'Clear and read again' }).click()
  await page.getByText('It is cleared, and read again').waitFor()
  // While it is indexing, it is looked at every two seconds.
  await expect
    .poll(() => asked.filter((one) => one === 'GET /knowledge').length, { timeout: 20_000 })
    .toBeGreaterThan(5)
  expect([...new Set(asked)]).toEqual([
    'GET /knowledge',
    'POST /knowledge/search',
    'POST /knowledge/k-1/update',
    'DELETE /knowledge/k-1',
  ])
  expect(complaints).toEqual([])
})

/** Opens what the answer cites, with the keyboard too, in whatever page it stands. */
async function readSources(page: Page, name: string): Promise<void> {
  const cards = page.getByRole('list', { name: 'Sources' }).getByRole('listitem')
  await cards.nth(1).waitFor()
  await expect.poll(() => page.getByRole('link', { name: /^Source \[3\]/ }).count()).toBe(2)
  expect(await cards.nth(1).innerText()).toContain('Changed since')
  await page.getByText('The answer cites [7], but nothing was found under this number.').waitFor()
  await lookFromAllSides(page, `${name}-cards`)

  const card = cards.nth(0).getByRole('button')
  await card.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Source 3' })
  await dialog.getByText(TEXT).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  expect(await card.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)

  await page
    .getByRole('link', { name: /^Source .3/ })
    .last()
    .click()
  await dialog.getByRole('button', { name: 'More around it' }).click()
  const passages = dialog.getByRole('list', { name: 'Passages' }).getByRole('listitem')
  await expect.poll(() => passages.count()).toBe(3)
  expect(await dialog.locator('[aria-current]').innerText()).toContain(TEXT)
  await lookFromAllSides(page, `${name}-passage`)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  await page
    .getByRole('link', { name: /^Source .4/ })
    .first()
    .click()
  await page.getByRole('dialog').getByText('The file does not say this any more').waitFor()
  expect(await page.getByRole('dialog').innerText()).not.toContain(TEXT)
  await lookFromAllSides(page, `${name}-gone`)
  await page.keyboard.press('Escape')
  expect(await page.evaluate(`window.ran ?? 'nothing'`)).toBe('nothing')
}

test.each(['chat', 'sessions'])('an answer shows its sources in /%s, and each opens its passage', async (where) => {
  const { page, complaints, go } = await signIn(browser, house, { serviceWorkers: 'block', reducedMotion: 'reduce' })
  const asked = await answerFor(page)
  await go(`/${where}/${SESSION}`)
  await readSources(page, where)

  const passage = (id: string, around: number) =>
    `GET /knowledge/passages/${id}?agent=${AGENT}&tool=handbook&before=${around}&after=${around}`
  expect(asked).toEqual([passage('p3', 0), passage('p3', 0), passage('p3', 2), passage('p4', 0)])
  expect(complaints).toEqual([])
})

test('a replay opens what the answer cited, too', async () => {
  const { page, complaints, go } = await signIn(browser, house, { serviceWorkers: 'block', reducedMotion: 'reduce' })
  await answerFor(page)
  await go(`/sessions/${SESSION}?view=replay`)
  await page.getByLabel('Event', { exact: true }).press('End')
  await page.getByRole('button', { name: /^.3. leave.md/ }).click()
  await page.getByRole('dialog').getByText(TEXT).waitFor()
  expect(complaints).toEqual([])
})

test('a user reads the sources of an answer on the page for users', async () => {
  const page = await (await browser.newContext({ serviceWorkers: 'block', reducedMotion: 'reduce' })).newPage()
  await answerFor(page)
  await page.goto(`${house.url}/talk/chat/${SESSION}`)
  await readSources(page, 'talk')
})
