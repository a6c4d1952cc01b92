// A policy from history in the console: what people decided becomes a draft, which somebody edits, tries and accepts.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { main } from '../../src/cli/main.ts'
import { createTestIo } from '../../src/cli/testing/test-io.ts'
import { createSystemClock } from '../../src/domain/clock.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, signIn } from './support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 30_000 }

inBrowser('a draft says what it rests on, is edited and tried, and counts once it is accepted', BUSY, async () => {
  await using house = await openConsoleHouse({ settings: { commands: { test: 'npm test' } } })
  const shop = house.folder('shop', { 'src/cart.ts': 'export {}\n' })
  const agent = house.agent('window-1', shop)
  const waiting = () => house.client.approvals({ status: 'pending' })
  async function decide(command: string, decision: 'approve' | 'reject'): Promise<void> {
    const asked = agent('approve_tool', { tool_name: 'Bash', input: { command } })
    await expect.poll(async () => (await waiting()).length, LATE).toBe(1)
    const [one] = await waiting()
    if (one !== undefined) await house.client[decision](one)
    await asked
  }
  for (let i = 0; i < 4; i += 1) await decide('npm test', 'approve')
  for (let i = 0; i < 3; i += 1) await decide('make docs', 'approve')
  await decide('npm publish', 'reject')

  // The command says the same, beside the running server.
  const io = createTestIo({ cwd: shop, clock: createSystemClock() })
  expect(await main(['policy', 'draft', '--data-dir', house.dataDir, '--json'], io)).toBe(0)
  expect(JSON.parse(io.printed())).toMatchObject({ workspace: shop, replay: { requests: 8, asked: 8 } })

  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/agents?tab=draft' })
  await page.getByLabel('Path of the workspace').fill(shop)
  await page.getByRole('button', { name: 'Draft', exact: true }).click()
  const content = page.locator('main')
  await content.getByText('command:npm test').waitFor()
  const shown = await content.innerText()
  expect(shown).toContain('Allowed 4 times, refused 0')
  expect(shown).toContain('Of 8 requests, people were asked about 8. With this text it would have been 4.')
  expect(shown).toContain('People refused it.')
  expect(shown).toContain('make-docs: ["make","docs"]')
  expect(await barriersOf(page)).toEqual([])
  expect((await lookAt(page)).tooWide).toBe(0)

  const text = page.getByLabel('Text of .quarterdeck/policy.json')
  const accept = page.getByRole('button', { name: 'Accept', exact: true })
  const again = page.getByRole('button', { name: 'Try the text' })
  const drafted = await text.inputValue()
  await text.fill('{"enabled": tru}')
  expect(await accept.isDisabled()).toBe(true)
  await again.click()
  await content.getByText('The text is no policy, so it would allow nothing.').waitFor()
  const edited = drafted.replace('"log_auto_approved": false', '"log_auto_approved": true')
  await text.fill(edited)
  await again.click()
  await content.getByText('people were asked about').waitFor()
  await accept.click()
  await content.getByText('.quarterdeck/policy.json is written, and counts from now on.').waitFor()
  expect(readFileSync(join(shop, '.quarterdeck/policy.json'), 'utf8')).toBe(edited)
  expect(await agent('approve_tool', { tool_name: 'Bash', input: { command: 'npm test' } })).toMatchObject({
    behavior: 'allow',
  })
  expect(await waiting()).toEqual([])
  expect(complaints).toEqual([])
})
