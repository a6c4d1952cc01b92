// A morning's inbox, worked off with the keyboard alone: 40 items of five agents. The keys are counted, because each one more is a reason
// to stop reading.

import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, signIn } from '../console/support/console-page.ts'
import { until } from '../crash/support/until.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 600_000 }
const LATE_MS = 120_000

const WEIGHTS = ['low', 'high', 'critical', 'words'] as const
type Weight = (typeof WEIGHTS)[number]

/** The most that one item, or one group, may take. The look opens by itself. */
const MOST_KEYS: Readonly<Record<Weight, number>> = { low: 1, high: 2, critical: 4, words: 2 }

const times = async (count: number, what: (i: number) => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < count; i += 1) await what(i)
}

/** 14 that are alike in two groups, 6 low, 10 high, 4 critical, and 6 that want words. */
async function fill(house: ConsoleHouse): Promise<void> {
  const ask = (host: string, folder: string, files: Record<string, string> = { 'README.md': '# Here\n' }) => {
    const place = house.folder(folder, files)
    return (window: string, tool: string, input: object) =>
      void house
        .agent(
          `${folder}-${window}`,
          place,
          host,
        )(tool, input)
        .catch(() => {})
  }
  const bash = (command: string) => ({ tool_name: 'Bash', input: { command }, tool_use_id: command })
  const shop = ask('claude-code', 'shop')
  const tides = ask('codex', 'tides')
  const harbour = ask('gemini-cli', 'harbour')
  const log = ask('copilot', 'log')
  for (let i = 1; i <= 7; i += 1) shop('tests', 'approve_tool', bash(`npm test -- part-${i}`))
  for (let i = 1; i <= 7; i += 1) tides('build', 'approve_tool', bash(`npm run build -- port-${i}`))
  for (let i = 1; i <= 6; i += 1) harbour(`push-${i}`, 'approve_tool', bash(`git push origin berth-${i}`))
  for (let i = 1; i <= 2; i += 1) harbour(`force-${i}`, 'approve_tool', bash(`git push --force origin berth-${i}`))
  for (let i = 1; i <= 3; i += 1) log(`asks-${i}`, 'forward_prompt', { prompt_text: `Page ${i} is done. Go on?` })
  for (let i = 1; i <= 2; i += 1) log(`waits-${i}`, 'wait_for_instruction', { message: `Log ${i} is written.` })
  log('silent', 'heartbeat', { status_message: 'Thinking' })
  await times(6, () => house.say('note'))
  await times(4, () => house.say('wipe'))
  await times(2, () => house.say('pay'))
  await until('40 items', async () => (await house.client.inbox()).total === 40, LATE_MS)
  // Who was answered is silent, and that is no news here.
  const { items } = await house.client.inbox({ limit: 100 })
  const elsewhere = items.filter(({ kind, host }) => kind !== 'alert' && host !== null)
  for (const id of new Set(elsewhere.map(({ session_id }) => session_id))) await house.client.sessions.stalls(id, false)
}

inBrowser('40 items of five agents are worked off with fewer keys than items', BUSY, async () => {
  await using house = await openConsoleHouse({ stallSeconds: 10 })
  await fill(house)
  await using browser = await connectBrowser()
  const { page, complaints, go } = await signIn(browser, house, { at: '/inbox?kind=alert' })
  const keys = countedKeys(page)

  // The silent agent, in its row.
  await page.getByRole('button', { name: 'Dismiss', disabled: false }).waitFor()
  await keys.press('j')
  await keys.press('d')
  await page.getByText('39 are open.').waitFor()

  await go('/inbox')
  await page.getByText('39 open').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await keys.press('j')
  await keys.press('a')
  const worked: Record<Weight, number[]> = { low: [], high: [], critical: [], words: [] }
  for (;;) {
    const card = page.getByRole('article')
    await card
      .or(page.getByRole('heading', { name: 'Nothing waits' }))
      .first()
      .waitFor()
    if ((await card.count()) === 0) break
    const at = page.url()
    const before = keys.count()
    const main = card.locator('button[class*="primary"]')
    await expect.poll(() => main.getAttribute('aria-disabled'), { timeout: LATE_MS }).toBe(null)
    const text = await card.innerText()
    const weight = WEIGHTS.find((one) =>
      text.includes(one === 'critical' ? 'Critical' : `${one.slice(0, 1).toUpperCase()}${one.slice(1)} risk`),
    )
    await keys.press('a')
    if (weight === 'critical') {
      await page.getByRole('dialog').getByRole('button', { disabled: false }).last().waitFor()
      await keys.press('Control+Enter')
    }
    await expect.poll(() => page.url(), { timeout: LATE_MS }).not.toBe(at)
    worked[weight ?? 'words'].push(keys.count() - before)
  }

  await page.getByText('All done').waitFor()
  expect((await house.client.inbox()).total).toBe(0)
  // Two groups of seven are two decisions.
  expect(WEIGHTS.map((weight) => worked[weight].length)).toEqual([8, 10, 4, 5])
  for (const weight of WEIGHTS) expect(Math.max(...worked[weight]), weight).toBeLessThanOrEqual(MOST_KEYS[weight])
  expect(keys.count()).toBeLessThan(40)
  const done = await house.client.inbox({ status: 'done', limit: 100 })
  expect(done.items.filter(({ decided_channel }) => decided_channel === 'console')).toHaveLength(40)
  expect(complaints).toEqual([])
})

/** Control and Enter are two. */
function countedKeys({ keyboard }: Page) {
  let count = 0
  return {
    count: () => count,
    async press(keys: string): Promise<void> {
      count += keys.split('+').length
      await keyboard.press(keys)
    },
  }
}
