// What people do to sign in to the console, and what is left in the browser afterwards.

import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { ConsoleHouse } from './console-house.ts'
import { type ConsolePage, DESK, watch } from './console-page.ts'

/** A page of a browser that nobody has used yet. */
export async function openPage(browser: Browser, house: ConsoleHouse, context?: BrowserContext): Promise<ConsolePage> {
  const own = context ?? (await browser.newContext({ viewport: DESK }))
  return watch(await own.newPage(), house.url)
}

/** A passkey in the browser, which says yes by itself. */
export async function givePasskey(page: Page): Promise<void> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
}

/** Everything that the console could have left in the browser. */
export const leftovers = (page: Page) =>
  page.evaluate<{ session: string[]; local: string[]; databases: string[]; caches: string[]; workers: number }>(
    `(async () => ({
      session: Object.keys(sessionStorage),
      local: Object.keys(localStorage),
      databases: (await indexedDB.databases()).map(({ name }) => name),
      caches: await caches.keys(),
      workers: (await navigator.serviceWorker.getRegistrations()).length,
    }))()`,
  )
export const NOTHING = { session: [], local: [], databases: [], caches: [], workers: 0 }

export const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { name, exact: true }).first()
export const pasteToken = async (page: Page, token: string): Promise<void> => {
  await page.getByLabel('paste the operator’s token').fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
export const operatorToken = async ({ client }: ConsoleHouse): Promise<string> =>
  (await client.createToken({ role: 'operator', name: 'test' })).token
