// The page of a session: what a model got and gave, and what a coding agent did, told as a story. And how one starts such an agent.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCAL_USER } from '../../src/domain/session/session.ts'
import { supervised } from '../../src/store/contract/supervised-samples.contract.ts'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { activityEvent, callEvents, resultEvent } from '../../src/supervision/sessions/session-events.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { until } from '../crash/support/until.ts'
import { type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, type ConsolePage, lookAt, signIn } from './support/console-page.ts'

const PATIENT_MS = 60_000
const LONG_STORY = '01940000-0000-7000-8000-0000000eeeee'
const CALLS = 2_500
const undo = new AsyncDisposableStack()
let browser: Browser
let house: ConsoleHouse
let opened: ConsolePage

/** A session of a coding agent with more than 10,000 events: a call says something now and then. */
async function seedStory(dataDir: string): Promise<void> {
  const fatal = (error: Error) => {
    throw error
  }
  const store = createSqliteStore({ path: join(dataDir, 'quarterdeck.db'), fatal })
  const start = Date.now() - CALLS * 1_000
  const told = { message: 'Another part is done.', level: 'success' }
  const events = Array.from({ length: CALLS }, (_, i) => [
    ...callEvents(`c${i}`, i % 4 === 0 ? 'remote_log' : 'heartbeat', i % 4 === 0 ? told : {}, start + i * 1_000),
    resultEvent(`c${i}`, { acknowledged: true }, false, start + i * 1_000 + 5),
  ]).flat()
  const all = [...events, activityEvent('a', 'stall_escalated', { alert_id: 'x' }, start + CALLS * 1_000)]
  const entries = all.map((event, i) => ({
    ...{ seq: i + 1, runId: null, kind: 'event' as const },
    data: JSON.stringify(event),
  }))
  const own = { id: LONG_STORY, owner: LOCAL_USER, createdAt: start, lastActivity: start, alias: null }
  const session = supervised({ status: 'interrupted' }, own)
  const { results } = await store.commit([{ type: 'import_session', session, runs: [], messages: [], entries }])
  for (const result of results) if (!result.ok) throw result.error
  await store.close()
}

beforeAll(async () => {
  browser = undo.use(await connectBrowser())
  house = undo.use(await openConsoleHouse({ seed: seedStory }))
  opened = await signIn(browser, house)
})
afterAll(() => undo.disposeAsync())

const nodesIn = (page: Page): Promise<number> => page.evaluate<number>('document.querySelectorAll("*").length')

/** Axe and the room, at three widths and in both themes. */
async function lookEverywhere(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    for (const [width, height] of [
      [1440, 900],
      [1024, 768],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      const { tooWide } = await lookAt(page)
      const shots = process.env.QUARTERDECK_SHOTS
      if (shots !== undefined) {
        mkdirSync(shots, { recursive: true })
        await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) })
      }
      expect({ name, width, colorScheme, tooWide, barriers: await barriersOf(page) }).toEqual({
        ...{ name, width, colorScheme, tooWide: 0, barriers: [] },
      })
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

test('a model call opens to what came back and what was sent, and leads to its message and to the log', async () => {
  const { page, go, complaints } = opened
  const session = await house.say('hello')
  await until('an answer', async () => (await house.client.sessions.get(session)).message_count === 2, PATIENT_MS)
  await go(`/sessions/${session}?view=timeline`)
  await page.getByRole('button', { name: /Model call 1/ }).click()
  const details = page.getByRole('complementary', { name: 'About Model call 1' })
  await details.getByRole('heading', { name: 'Reasoning' }).waitFor()

  expect(await details.textContent()).toContain('They say hello.')
  expect(await details.textContent()).toContain('First word after')
  await details.getByRole('button', { name: 'What was sent' }).click()
  await details.getByRole('button', { name: /System prompt/ }).click()
  await details.getByText('You help on board.').last().waitFor()
  await details.getByRole('button', { name: /^User/ }).click()
  await details.getByRole('button', { name: /5 tools/ }).click()
  expect(await details.textContent()).toContain('Room for128,000 tokens')
  await lookEverywhere(page, 'timeline-span')

  await details.getByRole('link', { name: 'Show it in the transcript' }).click()
  await page.locator('[data-wanted]').getByRole('heading', { name: 'Tides' }).waitFor()
  expect(complaints).toEqual([])
})

test('arguments are masked as on the card', async () => {
  const { page, go } = opened
  const session = await house.say('wipe')
  await until('a question', async () => (await house.client.approvals({ session, status: 'pending' })).length === 1)
  await go(`/sessions/${session}?view=timeline`)
  await page.locator('button[data-kind=tool]').click()
  const details = page.getByRole('complementary', { name: 'About wipe' })
  await details.getByRole('heading', { name: 'What wipe was given' }).waitFor()

  expect(await details.textContent()).toContain('/tmp/logs')
  expect(await details.textContent()).toContain('[masked]')
  expect(await page.content()).not.toContain('a-secret-of-somebody')
})

test('a supervised session reads as a story, and its raw calls are one press away', async () => {
  const { page, go, complaints } = opened
  const shop = house.folder('shop', { 'a.ts': 'export const a = 1\n' })
  const agent = house.agent('window', shop)
  await agent('heartbeat', {})
  await agent('check_auto_approve', { tool_name: 'Bash', context: { command: 'npm test' } })
  await agent('heartbeat', {
    status_message: 'Numbering the tides',
    progress_snapshot: [
      { label: 'Read the tables', status: 'done' },
      { label: 'Write the code', status: 'in_progress' },
    ],
  })
  await agent('remote_log', { level: 'info', message: 'The tables are complete.' })
  const asked = agent('ask_approval', { title: 'Count on', file_path: 'a.ts', diff: 'export const a = 2\n' })
  await until('a change', async () => (await house.client.approvals({ status: 'pending' })).some(isDiff))
  const change = (await house.client.approvals({ status: 'pending' })).find(isDiff)
  if (change === undefined) throw new Error('no change')
  await house.client.approve(change)
  const { request_id } = await asked
  await agent('accept_diff', { request_id })
  await house.client.sessions.steer(change.session_id, 'Use metres.')
  await go(`/sessions/${change.session_id}`)
  const story = page.getByRole('list', { name: 'What the agent did' })
  await story.getByText('Wrote a.ts.').waitFor()
  const text = (await story.textContent()) ?? ''

  expect(text).toContain('1 of 2 steps done. Now: Write the code.')
  expect(text).toContain('The tables are complete.')
  expect(text).toMatch(/Waited [\d.]+ m?s for an answer\. \w+ said yes\./)
  expect(text).toContain('told the agentUse metres.')
  expect(text).not.toMatch(/heartbeat|remote_log|check_auto_approve/)
  await story.getByRole('button', { name: /Runs npm test.*2 calls/ }).click()
  await story.getByRole('link', { name: 'check_auto_approve' }).waitFor()
  await lookEverywhere(page, 'story')
  await story.getByRole('link', { name: 'check_auto_approve' }).click()
  await page.getByRole('button', { name: /TOOL_CALL_START.*check_auto_approve/, expanded: true }).waitFor()
  expect(complaints).toEqual([])
})

const isDiff = ({ kind }: { kind: string }): boolean => kind === 'diff'

test('a story of 10,000 events stays small, from its end to its beginning', async () => {
  const { page, go } = opened
  await go(`/sessions/${LONG_STORY}`)
  const story = page.getByRole('list', { name: 'What the agent did' })
  await story.getByText('A person has to look.').waitFor()
  expect(await nodesIn(page)).toBeLessThan(1_000)
  await until('the beginning', async () => {
    await page.evaluate(`document.querySelector('[aria-label="What the agent did"]').scrollTo(0, 0)`)
    return story.getByText(/begins in/).isVisible()
  })
  expect(await nodesIn(page)).toBeLessThan(1_000)
  await story
    .getByRole('button', { name: /3 calls/ })
    .first()
    .click()
  await story.getByRole('link', { name: 'heartbeat' }).first().waitFor()
})

test('starting an agent offers known folders and says what is missing', async () => {
  const { page, go, complaints } = opened
  await go('/sessions')
  await page.getByRole('button', { name: /Start/ }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('No agent can be started yet.').waitFor()
  await dialog.getByRole('button', { name: /shop$/ }).first().click()

  expect(await dialog.getByLabel('Folder').inputValue()).toMatch(/shop$/)
  expect(await dialog.textContent()).toContain('Claude Code')
  expect(await dialog.textContent()).toContain('npm install -g')
  await dialog.getByLabel('What it should do').fill('Make it faster.')
  expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
  await lookEverywhere(page, 'start-agent')
  expect(complaints).toEqual([])
})
