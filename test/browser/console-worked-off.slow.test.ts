// A morning's inbox, worked off with the keyboard alone: 40 items of five agents. The keys are counted, because each one more is a reason
// to stop reading.

import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, signIn } from '../console/support/console-page.ts'
import { fillInbox } from '../console/support/morning-inbox.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 600_000 }
const LATE_MS = 120_000

const WEIGHTS = ['low', 'high', 'critical', 'words'] as const
type Weight = (typeof WEIGHTS)[number]

/** The most that one item, or one group, may take. The look opens by itself. */
const MOST_KEYS: Readonly<Record<Weight, number>> = { low: 1, high: 2, critical: 4, words: 2 }

inBrowser('40 items of five agents are worked off with fewer keys than items', BUSY, async () => {
  await using house = await openConsoleHouse({ stallSeconds: 10 })
  await fillInbox(house)
  await using browser = await connectBrowser()
  const { page, complaints, go } = await signIn(browser, house, { at: '/inbox?kind=alert' })
  const keys = countedKeys(page)

  // The silent agent, in its row.
  await page.getByRole('button', { name: 'Dismiss', disabled: false }).waitFor()
  await keys.press('j')
  await keys.press('d')
  await page.getByText('39 are open.').waitFor()
  const [alert] = (await house.client.inbox({ status: 'done', kind: 'alert' })).items
  await house.client.sessions.stalls(alert?.session_id ?? '', false)

  await go('/inbox')
  await page.getByText('39 open').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await keys.press('j')
  await keys.press('a')
  await page.waitForURL('**/inbox/*')
  const worked: Record<Weight, number[]> = { low: [], high: [], critical: [], words: [] }
  const card = page.getByRole('article')
  while (!new URL(page.url()).pathname.endsWith('/inbox')) {
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
  await page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
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
