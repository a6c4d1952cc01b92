// The one stream of a browser: shared by its tabs, and taken up again after the network or the server was away.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from '../console/support/console-house.ts'
import { signIn, watch } from '../console/support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 60_000 }

inBrowser('tabs share one stream, and another tab leads when the first is closed', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const first = await signIn(browser, house, { at: '/inbox' })
  await first.page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
  const token = await first.page.evaluate<string>(`sessionStorage.getItem('quarterdeck.token')`)
  const second = watch(await first.page.context().newPage(), house.url)
  await second.page.addInitScript(`sessionStorage.setItem('quarterdeck.token', ${JSON.stringify(token)})`)
  await second.page.goto(`${house.url}/console/inbox`)
  await second.page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
  expect(await house.streams()).toBe(1)

  await house.say('note')
  await first.page.getByRole('link', { name: /note/ }).first().waitFor()
  await second.page.getByRole('link', { name: /note/ }).first().waitFor()
  expect(await house.streams()).toBe(1)

  await first.page.close()
  await expect.poll(() => house.streams(), LATE).toBe(1)
  await house.say('wipe')
  await second.page.getByRole('link', { name: /wipe/ }).first().waitFor()
  expect([...first.complaints, ...second.complaints]).toEqual([])
})

inBrowser('a page without a network says so, decides nothing, and catches up', BUSY, async () => {
  await using house = await openConsoleHouse()
  await house.say('note')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  await page.getByRole('link', { name: /note/ }).first().click()
  await page.getByRole('button', { name: /^Approve/, disabled: false }).waitFor()

  await page.context().setOffline(true)
  await page.getByText('Not connected.', { exact: true }).waitFor()
  await page.getByRole('button', { name: /^Approve/, disabled: true }).waitFor()
  await page.keyboard.press('a')
  expect(house.ran).toEqual([])
  // What it knew is still there.
  await page.getByText('The tide turns at four.').first().waitFor()
  await house.say('wipe')

  await page.context().setOffline(false)
  await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /wipe/ }).first().waitFor()
  await page.getByRole('button', { name: /^Approve/, disabled: false }).waitFor()
  expect(complaints).toEqual([])
})

inBrowser('a server that dies and comes back under an open page loses nothing', BUSY, async () => {
  await using house = await openConsoleHouse()
  await house.say('note')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  await page.getByRole('link', { name: /note/ }).first().click()
  await page.getByRole('button', { name: /^Approve/, disabled: false }).waitFor()

  await house.stop()
  await page.getByText('Not connected.', { exact: true }).waitFor()
  await house.start()
  await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached' })

  // The device is still signed in, and the approval still counts.
  await page.getByRole('button', { name: /^Approve/, disabled: false }).click()
  await expect.poll(() => house.ran, LATE).toEqual([{ text: 'The tide turns at four.', copies: 1 }])
  expect(await house.streams()).toBe(1)
  expect(complaints).toEqual([])
})
