// The inbox of the console as a person uses it: sign in by the printed link, look, decide, with the mouse and with a thumb. `npm run
// test:console` has the keyboard, edits and what others decide.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn } from '../console/support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 60_000 }

const decided = async ({ client }: ConsoleHouse) =>
  (await client.approvals({ status: 'all' })).map(({ tool, status, reason, decided_channel }) => ({
    ...{ tool, status, reason, decided_channel },
  }))

inBrowser('the printed link signs in once, and a person approves what they have seen', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  expect(new URL(page.url()).hash).toBe('')
  await page.getByRole('heading', { name: 'Nothing waits' }).waitFor()

  // It comes by itself, and the title says so.
  await house.say('wipe')
  await page.getByRole('link', { name: /wipe/i }).first().click()
  await expect.poll(() => page.title(), LATE).toBe('(1) Inbox · Quarterdeck')
  await page.getByText('/tmp/logs').first().waitFor()
  expect(await page.locator('main').innerText()).not.toContain('a-secret-of-somebody')

  await page.getByRole('button', { name: /^Approve/, disabled: false }).click()

  // There is nothing else to decide.
  await page.getByText('All done').waitFor()
  await page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
  await expect.poll(() => house.ran, LATE).toEqual([{ path: '/tmp/logs', token: 'a-secret-of-somebody' }])
  await expect.poll(() => page.title(), LATE).toBe('Inbox · Quarterdeck')
  expect(await decided(house)).toEqual([{ tool: 'wipe', status: 'consumed', reason: null, decided_channel: 'console' }])
  expect(complaints).toEqual([])
})

inBrowser('on a phone a change is read whole before a yes, with one thumb', BUSY, async () => {
  await using house = await openConsoleHouse()
  const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`)
  const shop = house.folder('shop', { 'notes.txt': `${lines.join('\n')}\n` })
  const asked = house.agent('window-1', shop)('ask_approval', {
    title: 'Number the lines',
    diff: `${lines.map((line) => `${line}.`).join('\n')}\n`,
    file_path: 'notes.txt',
    risk_level: 'high',
  })
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, {
    ...{ at: '/inbox', viewport: PHONE, hasTouch: true, isMobile: true },
  })
  await page
    .getByRole('link', { name: /notes\.txt/ })
    .first()
    .tap()
  await page.getByRole('heading', { name: /notes\.txt/ }).waitFor()
  expect(await page.getByText('Scroll to the end to approve').first().isVisible()).toBe(true)
  const look = await lookAt(page)
  expect([look.tooWide, look.smallTargets, look.primaryButtons.length]).toEqual([0, [], 1])
  expect(await barriersOf(page)).toEqual([])

  const approve = page.getByRole('button', { name: /^Approve/ })
  await expect
    .poll(
      async () => {
        await page.mouse.move(195, 400)
        await page.mouse.wheel(0, 2_000)
        return approve.isEnabled()
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  // Whoever hurries has not looked at all of it, is told so, and is asked once more.
  await approve.tap()
  await page.getByRole('dialog').getByText('You have not looked at').waitFor()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Approve/, disabled: false })
    .tap()
  expect(await asked).toMatchObject({ status: 'approved' })
  expect(complaints).toEqual([])
})
