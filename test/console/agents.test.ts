// The pages of figures and agents with something to show: thirty days of runs, a limit, test cases that fail, another model.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { dayOf, tookLetter } from '../../src/store/ports/usage.ts'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { until } from '../crash/support/until.ts'
import { AGENT, type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, type ConsolePage, lookAt, signIn } from './support/console-page.ts'

const out = join(import.meta.dirname, 'out')
const undo = new AsyncDisposableStack()
let browser: Browser
let house: ConsoleHouse
let opened: ConsolePage

/** Thirty days of two agents and three models. */
async function seedUsage(dataDir: string): Promise<void> {
  const store = createSqliteStore({
    path: join(dataDir, 'quarterdeck.db'),
    fatal(error: Error): never {
      throw error
    },
  })
  const models = [
    ['openai', 'gpt-5-mini'],
    ['openai', 'gpt-5'],
    ['anthropic', 'claude-sonnet-4-5'],
  ] as const
  const usage = Array.from({ length: 30 }, (_, back) =>
    models.map(([provider, model], i) => ({
      ...{ day: dayOf(Date.now()) - back, sessionId: crypto.randomUUID(), owner: 'local_user' },
      ...{ agent: i === 2 ? 'tutor' : AGENT, provider, model, runs: 8 + i, modelRuns: 8 + i },
      ...{ input: 40_000 * (i + 1) + back * 900, output: 9_000, cachedInput: 12_000, cacheWrite: 0, reasoning: 0 },
      ...{ failed: back % 7 === 0 ? 2 : 0, cancelled: 1 },
      took: tookLetter(2_000 * (i + 1)).repeat(8) + tookLetter(21_000 + back * 300),
    })),
  ).flat()
  const { results } = await store.commit([{ type: 'import_records', usage }])
  if (!results.every(({ ok }) => ok)) throw new Error('the usage could not be brought in')
  await store.close()
}

beforeAll(async () => {
  mkdirSync(out, { recursive: true })
  browser = undo.use(await connectBrowser())
  const agentMore = `test_cases:
  - { name: knows the tides, input: hello, contains: Tides }
  - { name: speaks Latin, input: hello, contains: Salve }
`
  const settings = {
    try_models: ['scripted/other'],
    limits: { per_day: { default: { cost: 1 } } },
    prices: { models: { 'openai/*': { input: 1, output: 4 }, 'anthropic/*': { input: 3, output: 15 } } },
  }
  house = undo.use(await openConsoleHouse({ seed: seedUsage, settings, agentMore }))
  opened = await signIn(browser, house, { viewport: { width: 1440, height: 900 }, serviceWorkers: 'block' })
})
afterAll(() => undo.disposeAsync())

/** Three widths and both themes: nothing in the way of anybody, nothing too wide or too small. */
async function lookFromAllSides(page: Page, name: string): Promise<void> {
  const found: string[] = []
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: width === 390 ? 844 : 900 })
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(out, `agents-${name}-${width}-${theme}.png`), fullPage: true })
      const { tooWide, smallTargets } = await lookAt(page)
      const barriers = await barriersOf(page)
      if (tooWide > 0) barriers.push(`${tooWide} px too wide`)
      found.push(...[...barriers, ...smallTargets].map((problem) => `${name} ${width} ${theme}: ${problem}`))
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
  expect(found).toEqual([])
}

test('usage shows cost, times and errors by day and of each model, with the limit of a day', async () => {
  const { page, go } = opened
  await go('/usage')
  await page.getByRole('heading', { name: 'Cost by day' }).waitFor()
  await page.getByText(/Left today for local_user: \$0\.\d+ of \$1\.00/).waitFor()
  await page.locator('canvas').waitFor()
  await lookFromAllSides(page, 'usage')

  await page.getByLabel('Parts').selectOption('model')
  await page.locator('p[aria-hidden] bdi', { hasText: 'anthropic/claude-sonnet-4-5' }).waitFor()
  await lookFromAllSides(page, 'usage-models')
  await page.getByRole('button', { name: 'Time', exact: true }).click()
  await page.getByText('95 % of the runs took at most').waitFor()
  await page.getByLabel('Parts').selectOption('')
  await page.getByRole('button', { name: 'Errors', exact: true }).click()
  await page.getByRole('heading', { name: 'Errors by day' }).waitFor()
  await page.getByLabel('Days', { exact: true }).selectOption('7d')
  await page.waitForURL(/since=7d/)

  await go('/usage?by=model')
  await page.getByRole('link', { name: 'openai/gpt-5-mini' }).click()
  await page.getByRole('button', { name: 'Only model openai/gpt-5-mini' }).click()
  await until('the filter is gone', async () => !page.url().includes('model=openai'))
  expect(opened.complaints).toEqual([])
})

test('an agent shows what it did, what does not pass and since when, and the results outlive the server', async () => {
  const { page, go } = opened
  await go('/agents')
  await page
    .getByText(/\d+ runs · .* errors · half within/)
    .first()
    .waitFor()
  await lookFromAllSides(page, 'list')
  await go(`/agents/${AGENT}`)
  await page.getByRole('heading', { name: 'What it did' }).waitFor()
  await page.getByText(/95 % within/).waitFor()
  await lookFromAllSides(page, 'agent')

  await go(`/agents/${AGENT}?tab=tests`)
  await page.getByRole('button', { name: 'Run all' }).click()
  await page.getByText('1 passed, 1 failed').waitFor()
  const failures = page.getByRole('table', { name: 'Cases that do not pass' })
  await failures.getByText('an answer with "Salve"').waitFor()
  await lookFromAllSides(page, 'tests')
  const { cases } = await house.client.agents.tests(AGENT)
  await house.stop()
  await house.start()
  const kept = await house.client.agents.tests(AGENT)
  expect(kept.cases).toEqual(cases)
  expect(kept.cases.map(({ failing_since }) => failing_since === null)).toEqual([true, false])

  await go(`/agents/${AGENT}?tab=file`)
  await page.getByText('You help on board.').waitFor()
  await page.getByRole('button', { name: 'Colours and line numbers' }).click()
  await page.locator('.cm-content').waitFor()
  expect(opened.complaints).toEqual([])
})

test('another model is tried in a chat that says so all the time', async () => {
  const { page, go } = opened
  await go(`/agents/${AGENT}`)
  await page.getByRole('button', { name: 'Try another model' }).click()
  await page.getByText('model:\n  name: other').waitFor()
  await lookFromAllSides(page, 'try')
  await page.getByRole('button', { name: 'Begin a chat' }).click()
  await page.getByText('Tried with scripted/other. Tools').waitFor()
  await page.getByRole('textbox', { name: /Message/ }).fill('hello')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Tides' }).waitFor()
  const conversation = page.getByRole('list', { name: 'Conversation' })
  await conversation.getByText('Tried with scripted/other').waitFor()
  await page.getByText('Tried with scripted/other. Tools').waitFor()
  await lookFromAllSides(page, 'tried')

  const session = page.url().split('/chat/')[1] ?? ''
  await page.reload()
  await page.getByText('Tried with scripted/other. Tools').waitFor()
  await page.getByRole('button', { name: 'Use its own model' }).click()
  await page.getByRole('textbox', { name: /Message/ }).fill('hello')
  await page.keyboard.press('Enter')
  await until('both runs', async () => {
    const { runs } = await house.client.sessions.runs(session)
    return runs.length === 2 && runs.every(({ status }) => status === 'completed')
  })
  const { runs } = await house.client.sessions.runs(session)
  expect(runs.map(({ usage }) => usage[0]?.model)).toEqual(['scripted', 'other'])
  await page.getByRole('link', { name: 'Details' }).click()
  await go(`/sessions/${session}?view=timeline`)
  await page.getByText('Run, tried with scripted/other').first().waitFor()
  expect(opened.complaints).toEqual([])
})

test('the audit opens on what people decided, and health says in words how the server does', async () => {
  const { page, go } = opened
  const session = await house.say('note')
  await until('the question', async () => (await house.client.approvals({ status: 'pending' })).length > 0)
  const [asked] = await house.client.approvals({ status: 'pending' })
  if (asked !== undefined) await house.client.approve(asked)
  await go('/audit')
  const entries = page.getByRole('list', { name: 'Entries' })
  await entries.getByText('Decision', { exact: true }).first().waitFor()
  expect(await entries.getByText('Approval asked for').count()).toBe(0)
  await lookFromAllSides(page, 'audit')
  await page.getByRole('button', { name: 'Show everything' }).click()
  await entries.getByText('Approval asked for').first().waitFor()
  await go(`/audit?session=${session}`)
  await entries.getByText('Approval asked for').first().waitFor()

  await go('/health')
  await page.getByText('How fast the server reacts').waitFor()
  await page.getByText('All is well').first().waitFor()
  expect(await page.getByText('Waiting for their turn').count()).toBe(0)
  await lookFromAllSides(page, 'health')
  expect(opened.complaints).toEqual([])
})
