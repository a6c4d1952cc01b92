// Every page of the console in every state, in both themes and at several widths, as a real browser shows it. Each look checks with axe,
// and that nothing is refused by the policy, wider than the screen, without a heading, a title or a focus, or has two primary buttons.
// Pictures of all of them go to `out/`, and a table of what was found is printed at the end.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HISTORY_THREAD } from '../../bench/seed.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { AGENT, type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, DESK, lookAt, PHONE, signIn, watch } from './support/console-page.ts'
import { type Filled, fillHouse } from './support/fill-house.ts'
import { EVENTS, LONG_SESSION, MANY, seedMany } from './support/seed-many.ts'

type State =
  | 'full'
  | 'empty'
  | 'loading'
  | 'offline'
  | 'reconnecting'
  | 'error'
  | 'gone'
  | '10,000 items'
  | 'decided elsewhere'

interface View {
  name: string
  path: (filled: Filled) => string
  /** Besides `full`, which every page has. */
  states: readonly State[]
  /** Where the page is in a server with 10,000 of everything. */
  manyPath?: string
}

const USUAL: readonly State[] = ['empty', 'loading', 'offline', 'reconnecting', 'error', 'gone']
/** What is opened by its id is there or not: a new server has none. */
const ONE_THING: readonly State[] = ['loading', 'offline', 'reconnecting', 'error', 'gone']

const views: readonly View[] = [
  { name: 'inbox', path: () => '/inbox', states: USUAL },
  { name: 'inbox done', path: () => '/inbox?tab=done', states: ['empty'] },
  {
    name: 'approval low',
    path: ({ approval }) => `/inbox/${approval.low}`,
    states: [...ONE_THING, 'decided elsewhere'],
  },
  { name: 'approval high', path: ({ approval }) => `/inbox/${approval.high}`, states: [] },
  { name: 'approval critical', path: ({ approval }) => `/inbox/${approval.critical}`, states: [] },
  { name: 'question of a tool', path: ({ question }) => `/inbox/${question}`, states: [] },
  { name: 'change', path: ({ diff }) => `/inbox/${diff}`, states: ['offline'] },
  { name: 'tool of a host', path: ({ permission }) => `/inbox/${permission}`, states: [] },
  { name: 'prompt', path: ({ prompt }) => `/inbox/${prompt}`, states: ['offline'] },
  { name: 'wait', path: ({ wait }) => `/inbox/${wait}`, states: [] },
  { name: 'silent agent', path: ({ alert }) => `/inbox/${alert}`, states: [] },
  { name: 'new chat', path: () => '/chat', states: USUAL },
  {
    name: 'chat',
    path: ({ chat }) => `/chat/${chat}`,
    states: [...ONE_THING, '10,000 items'],
    manyPath: `/chat/${HISTORY_THREAD}`,
  },
  { name: 'chat with versions', path: ({ parted }) => `/chat/${parted}`, states: ['offline'] },
  { name: 'chat that asks', path: ({ asking }) => `/chat/${asking}`, states: ['offline'] },
  { name: 'sessions', path: () => '/sessions', states: [...USUAL, '10,000 items'], manyPath: '/sessions' },
  { name: 'failed sessions', path: () => '/sessions?state=failed', states: ['empty'] },
  {
    name: 'search',
    path: () => '/sessions?q=tides',
    states: ['empty', '10,000 items'],
    manyPath: '/sessions?q=harbour',
  },
  { name: 'session', path: ({ chat }) => `/sessions/${chat}`, states: ONE_THING },
  { name: 'timeline', path: ({ chat }) => `/sessions/${chat}?view=timeline`, states: ['loading'] },
  {
    name: 'log',
    path: ({ chat }) => `/sessions/${chat}?view=log`,
    states: ['loading', '10,000 items'],
    manyPath: `/sessions/${LONG_SESSION}?view=log`,
  },
  { name: 'replay', path: ({ chat }) => `/sessions/${chat}?view=replay`, states: ['loading'] },
  { name: 'supervised session', path: ({ supervised }) => `/sessions/${supervised}`, states: ['offline'] },
  { name: 'checkpoints', path: ({ supervised }) => `/sessions/${supervised}?view=checkpoints`, states: [] },
  { name: 'workspace', path: ({ supervised }) => `/sessions/${supervised}?view=workspace`, states: [] },
  { name: 'agents', path: () => '/agents', states: ONE_THING },
  { name: 'agent', path: () => `/agents/${AGENT}`, states: ONE_THING },
  { name: 'usage', path: () => '/usage', states: USUAL },
  { name: 'health', path: () => '/health', states: ONE_THING },
  { name: 'audit', path: () => '/audit', states: [...USUAL, '10,000 items'], manyPath: '/audit' },
  ...['devices', 'passkeys', 'keys', 'push', 'grants', 'memories', 'channels', 'theme', 'keyboard', 'about'].map(
    (part) => ({
      ...{ name: `settings ${part}`, path: () => `/settings/${part}`, states: part === 'devices' ? ONE_THING : [] },
    }),
  ),
  { name: 'settings', path: () => '/settings', states: [] },
  { name: 'no such page', path: () => '/nowhere', states: [] },
]

const out = join(import.meta.dirname, 'out')
const themes = ['light', 'dark'] as const
const WIDE = { width: 3840, height: 2160 }
const PATIENT_MS = 30_000

interface Finding {
  view: string
  state: State
  theme: string
  width: number
  problems: string[]
}
const findings: Finding[] = []

interface Place {
  house: ConsoleHouse
  context: BrowserContext
}
let browser: Browser
let full: Place
let empty: Place
let many: Place
let filled: Filled
const undo = new AsyncDisposableStack()

/** Signs in once. Every page of the context is then signed in from the start. */
async function enter(house: ConsoleHouse): Promise<Place> {
  // A service worker would answer in place of the routes that a test sets up.
  const { page } = await signIn(browser, house, { serviceWorkers: 'block', reducedMotion: 'reduce' })
  const token = await page.evaluate<string>(`sessionStorage.getItem('quarterdeck.token')`)
  const context = page.context()
  await context.addInitScript(`sessionStorage.setItem('quarterdeck.token', ${JSON.stringify(token)})`)
  await page.close()
  return { house, context }
}

beforeAll(async () => {
  mkdirSync(out, { recursive: true })
  browser = undo.use(await connectBrowser())
  full = await enter(undo.use(await openConsoleHouse({ stallSeconds: 10 })))
  filled = await fillHouse(full.house, { hasAlerts: true })
  empty = await enter(undo.use(await openConsoleHouse()))
  many = await enter(undo.use(await openConsoleHouse({ seed: seedMany })))
})
afterAll(async () => {
  process.stdout.write(`\n${table()}\n`)
  await undo.disposeAsync()
})

const isData = (url: URL): boolean => !url.pathname.startsWith('/console') && url.pathname !== '/events'
const problem = (status: number, code: string, detail: string) => (route: Route) =>
  route.fulfill({
    ...{ status, contentType: 'application/problem+json' },
    body: JSON.stringify({ type: 'about:blank', status, code, title: 'Failed', detail, correlation_id: 'test-1' }),
  })

/** A heading is there and nothing loads any more. */
async function isReady(page: Page): Promise<void> {
  await page.locator('main :is(h1, h2)').first().waitFor({ timeout: PATIENT_MS })
  await expect.poll(() => page.locator('main [aria-label="Loading"]').count(), { timeout: PATIENT_MS }).toBe(0)
}

/** Opens the page and brings it into the state. */
async function open(page: Page, view: View, state: State): Promise<void> {
  const { house } = placeOf(state)
  const path = state === '10,000 items' ? (view.manyPath ?? view.path(filled)) : view.path(filled)
  if (state === 'loading') await page.route(isData, () => {})
  if (state === 'error') await page.route(isData, problem(500, 'internal_error', 'Something broke inside the server.'))
  if (state === 'gone') {
    await page.route('**/events*', problem(410, 'events_gone', 'These events are no longer kept.'), { times: 1 })
  }
  await page.goto(`${house.url}/console${path}`)
  if (state === 'loading') {
    await page.locator('main h1').first().waitFor({ timeout: PATIENT_MS })
    await page.waitForTimeout(400)
    return
  }
  if (state === 'error')
    await page.getByText('Something broke inside the server.').first().waitFor({ timeout: PATIENT_MS })
  else await isReady(page)
  if (state === 'gone') await page.getByText('loaded again').waitFor({ timeout: PATIENT_MS })
  if (state === 'offline') await page.context().setOffline(true)
  if (state === 'reconnecting') {
    await page.route('**/events*', (route) => route.abort())
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
  }
  if (state === 'offline' || state === 'reconnecting') {
    await page.getByText('Not connected.', { exact: true }).waitFor({ timeout: PATIENT_MS })
  }
  if (state === 'decided elsewhere') {
    const [one] = (await house.client.approvals({ status: 'pending' })).filter(
      ({ approval_id }) => approval_id === filled.approval.low,
    )
    if (one !== undefined) await house.client.reject(one, { reason: 'Somebody was faster.' })
    await page.getByText('Somebody was faster.').first().waitFor({ timeout: PATIENT_MS })
  }
  await page.waitForTimeout(300)
}

const placeOf = (state: State): Place => (state === 'empty' ? empty : state === '10,000 items' ? many : full)

/** What is wrong with the page as it is now. */
async function check(page: Page, isFirst: boolean): Promise<string[]> {
  const look = await lookAt(page)
  return [
    ...(await barriersOf(page)).map((one) => `axe: ${one}`),
    ...(look.headings.length === 1 ? [] : [`headings: ${JSON.stringify(look.headings)}`]),
    ...(/· Quarterdeck$/.test(look.title) ? [] : [`title: ${look.title}`]),
    ...(look.primaryButtons.length <= 1 ? [] : [`primary buttons: ${look.primaryButtons.join(', ')}`]),
    ...(look.tooWide === 0 ? [] : [`${look.tooWide} px wider than the screen`]),
    ...look.smallTargets.map((one) => `too small for a finger: ${one}`),
    // Later looks are of another width, where what had the focus may not be shown.
    ...(look.focus === '' && isFirst ? ['the focus is nowhere'] : []),
  ]
}

async function examine(view: View, state: State): Promise<Finding[]> {
  const { context, house } = placeOf(state)
  const { page, complaints } = watch(await context.newPage(), house.url)
  const found: Finding[] = []
  try {
    await open(page, view, state)
    const sizes = [DESK, PHONE, ...(state === 'full' ? [WIDE] : [])]
    for (const size of sizes) {
      await page.setViewportSize(size)
      for (const theme of size === WIDE ? (['light'] as const) : themes) {
        await page.emulateMedia({ colorScheme: theme })
        await page.locator(`html[data-theme="${theme}"]`).waitFor()
        await page.waitForTimeout(100)
        const name = `${view.name} ${state} ${theme} ${size.width}`.replaceAll(/[^a-z0-9]+/g, '-')
        await page.screenshot({ path: join(out, `${name}.png`) })
        found.push({
          view: view.name,
          state,
          theme,
          width: size.width,
          problems: await check(page, found.length === 0),
        })
      }
    }
    if (complaints.length > 0) found.push({ view: view.name, state, theme: '–', width: 0, problems: [...complaints] })
  } catch (error) {
    found.push({
      view: view.name,
      state,
      theme: '–',
      width: 0,
      problems: [`not reached: ${String(error).slice(0, 200)}`],
    })
  } finally {
    await context.setOffline(false)
    await page.close()
  }
  findings.push(...found)
  // A run that is stopped has its table too.
  writeFileSync(join(out, 'table.md'), table())
  return found
}

function table(): string {
  const rows = findings.map(({ view, state, theme, width, problems }) => {
    const what = problems.length === 0 ? '0' : `${problems.length}: ${problems.join('; ').slice(0, 300)}`
    return `| ${view} | ${state} | ${theme} | ${width} | ${what} |`
  })
  const bad = findings.filter(({ problems }) => problems.length > 0).length
  return [
    '| page | state | theme | width | violations |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    `${findings.length} looks at ${views.length} pages, ${bad} with something wrong. ${MANY} sessions, ${EVENTS} events.`,
  ].join('\n')
}

/** What somebody decides is decided for the pages after it, so it comes last. */
const order = (state: State): number => (state === 'decided elsewhere' ? 1 : 0)
const cases = views
  .flatMap((view) => (['full', ...view.states] as const).map((state) => ({ view, state, name: view.name })))
  .toSorted((a, b) => order(a.state) - order(b.state))

describe('every page', () => {
  test.each(cases)('$name, $state', async ({ view, state }) => {
    const found = await examine(view, state)

    expect(found.flatMap(({ theme, width, problems }) => problems.map((one) => `${theme} ${width} ${one}`))).toEqual([])
  })
})
