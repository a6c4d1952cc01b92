// Signing in to the console and out of it, in a real browser: codes, tokens, and what stays in the browser. `npm run test:console` has
// the rest of it.

import type { Page } from 'playwright-core'
import { afterAll, expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { signIn } from '../console/support/console-page.ts'
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

  await signOut(first.page)

  for (const { page } of [first, second]) {
    await heading(page, 'Sign in').waitFor()
    await expect.poll(() => leftovers(page), SLOW).toEqual({ ...NOTHING, local: ['quarterdeck.theme'] })
  }
  await expect.poll(async () => (await house.client.devices.list()).length, SLOW).toBe(before.length)
  expect([first.complaints, second.complaints]).toEqual([[], []])
})

async function signOut(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('sign out')
  await page.keyboard.press('Enter')
}

/** Makes a method of the browser wait until the test calls `letGo()` there. `held` is the number of calls, `done` of those that ended. */
const hold = (prototype: string, method: string): string => `{
  const own = ${prototype}.prototype.${method}
  const gate = Promise.withResolvers()
  Object.assign(self, { held: 0, done: 0, letGo: gate.resolve })
  ${prototype}.prototype.${method} = async function (...input) {
    self.held += 1
    await gate.promise
    return own.apply(this, input).finally(() => (self.done += 1))
  }
}`

inBrowser('files that are being kept in one tab when another signs out are not kept', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const first = await signIn(browser, house, { at: '/settings/theme' })
  const second = await openPage(browser, house, first.page.context())
  await second.page.goto(`${house.url}/console/settings/theme`)
  await heading(second.page, 'Theme').waitFor()
  await expect.poll(async () => (await leftovers(second.page)).caches.length, SLOW).toBe(1)
  const workers = first.page.context().serviceWorkers()
  const everywhere = (code: string) =>
    Promise.all([second.page.evaluate<number>(code), ...workers.map((worker) => worker.evaluate<number>(code))])
  const count = async (what: 'held' | 'done') => (await everywhere(what)).reduce((sum, one) => sum + one)
  await everywhere(hold('CacheStorage', 'open'))
  await second.go('/audit')
  await expect.poll(() => count('held'), SLOW).toBeGreaterThan(0)

  await signOut(first.page)
  for (const { page } of [first, second]) await heading(page, 'Sign in').waitFor()
  const held = await count('held')
  await everywhere('letGo()')

  await expect.poll(() => count('done'), SLOW).toBeGreaterThanOrEqual(held)
  for (const { page } of [first, second]) await expect.poll(() => leftovers(page), SLOW).toEqual(NOTHING)
  expect([first.complaints, second.complaints]).toEqual([[], []])
})

inBrowser('somebody who signs out before the service worker is there gets none', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await openPage(browser, house)
  await page.addInitScript(hold('ServiceWorkerContainer', 'register'))
  await page.goto(await house.link('/settings/theme'))
  await heading(page, 'Theme').waitFor()
  await expect.poll(() => page.evaluate('held'), SLOW).toBe(1)

  await signOut(page)
  await heading(page, 'Sign in').waitFor()
  await page.evaluate('letGo()')

  await expect.poll(() => page.evaluate('done'), SLOW).toBe(1)
  await expect.poll(() => leftovers(page), SLOW).toEqual(NOTHING)
  expect(complaints).toEqual([])
})

inBrowser('signing out without a network leaves nothing, and says that the server was not told', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/about' })
  await expect.poll(async () => (await leftovers(page)).caches.length, SLOW).toBe(1)
  await page.evaluate(`PushManager.prototype.getSubscription = async () => ({
    unsubscribe: async () => { throw new DOMException('The push service does not answer.', 'NetworkError') },
  })`)
  const button = page.getByRole('main').getByRole('button', { name: 'Sign out' })
  await button.waitFor()
  await page.context().setOffline(true)

  await button.click()

  await expect.poll(() => leftovers(page), SLOW).toEqual(NOTHING)
  await page.getByText('but the server did not answer').waitFor()
  expect(complaints).toEqual([])
})

inBrowser('a tab that opens while another signs out is signed out too', BUSY, async () => {
  const house = await sharedHouse()
  await using browser = await connectBrowser()
  const other = await openPage(browser, house)
  await other.page.goto(`${house.url}/console/icon.svg`)
  // The new tab hears of the sign-out before a third one, which has not heard yet, hands it the token.
  await other.page.evaluate(`{
    const channel = new BroadcastChannel('quarterdeck-sign-in')
    channel.onmessage = ({ data }) => {
      if (data !== 'ask') return
      channel.postMessage('sign-out')
      channel.postMessage({ token: ${JSON.stringify(await operatorToken(house))} })
    }
  }`)
  const { page, complaints } = await openPage(browser, house, other.page.context())
  await page.goto(`${house.url}/console/settings/theme`)

  await page.getByText('You are signed out').waitFor()
  expect(await leftovers(page)).toEqual(NOTHING)
  expect(complaints).toEqual([])
})
