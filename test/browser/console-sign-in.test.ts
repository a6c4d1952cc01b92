// Signing in to the console and out of it, in a real browser: codes, tokens, and what stays in the browser. `npm run test:console` has
// the rest of it.

import { afterAll, expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { heading, leftovers, NOTHING, openPage, operatorToken, pasteToken } from '../console/support/sign-in-steps.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const SLOW = { timeout: 60_000 }

/** One server for the tests that need no passkey. */
let shared: Promise<ConsoleHouse> | null = null
function sharedHouse(): Promise<ConsoleHouse> {
  shared ??= openConsoleHouse()
  return shared
}
afterAll(async () => (await shared)?.[Symbol.asyncDispose]())

inBrowser('a link signs in once, and says what to do when it is used or wrong', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const link = await house.link('/settings/about')
  const first = await openPage(browser, house)
  await first.page.goto(link)
  await heading(first.page, 'About').waitFor()
  expect(first.page.url()).toBe(`${house.url}/console/settings/about`)
  // Nobody who is signed in uses a code up by accident, and it does not stay in the address.
  const unused = await house.link('/settings/about')
  await first.page.goto(unused)
  await expect.poll(() => first.page.url(), SLOW).toBe(`${house.url}/console/settings/about`)

  const second = await openPage(browser, house)
  await second.page.goto(link)
  await second.page.getByText('This link does not work any more').waitFor()
  expect(second.page.url()).toBe(`${house.url}/console/settings/about`)
  // A new link in the same tab changes only what is behind the #.
  await second.page.goto(unused)
  await heading(second.page, 'About').waitFor()
  expect([first.complaints, second.complaints]).toEqual([[], []])
})

inBrowser('whoever stays signed in is in every tab, and signing out leaves nothing in any of them', BUSY, async () => {
  const house = await sharedHouse()
  const before = await house.client.devices.list()
  await using browser = await connectBrowser()
  const first = await openPage(browser, house)
  await first.page.goto(`${house.url}/console/settings/theme`)
  await first.page.getByLabel(/Stay signed in/).check()
  await pasteToken(first.page, await operatorToken(house))
  await first.page.getByLabel(/Dark/).check()
  const second = await openPage(browser, house, first.page.context())
  await second.page.goto(`${house.url}/console/inbox`)
  await heading(second.page, 'Inbox').waitFor()
  const [device, ...more] = (await house.client.devices.list()).slice(before.length)
  expect([device, more]).toMatchObject([{ kept: true }, []])
  await second.page.getByText('Add a passkey').waitFor()
  await second.page.getByRole('button', { name: 'Do not show this again' }).click()
  // What somebody was writing, and files for a start without a network.
  await second.page.evaluate(`sessionStorage.setItem('quarterdeck.draft.new', '{"text":"secret"}')`)
  await expect.poll(async () => (await leftovers(first.page)).caches.length, SLOW).toBe(1)

  await first.page.keyboard.press('Control+k')
  await first.page.getByRole('combobox').fill('sign out')
  await first.page.keyboard.press('Enter')

  for (const { page } of [first, second]) {
    await heading(page, 'Sign in').waitFor()
    await expect.poll(() => leftovers(page), SLOW).toEqual({ ...NOTHING, local: ['quarterdeck.theme'] })
  }
  await expect.poll(async () => (await house.client.devices.list()).length, SLOW).toBe(before.length)
  expect([first.complaints, second.complaints]).toEqual([[], []])
})
