// The server is updated while a page of the build before is open. Parts that the page has not loaded yet are gone.

import type { Browser, Page } from 'playwright-core'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Client, createClient } from '../../src/client/client.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { OPERATOR_TOKEN, operatorEnv } from '../crash/support/operator.ts'
import { openYard } from '../crash/support/start-server.ts'
import { DESK, watch } from './support/console-page.ts'
import { putConsole, putNextConsole } from './support/program-console.ts'
import { pasteToken } from './support/sign-in-steps.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const LATE = { timeout: 60_000 }

interface Old {
  page: Page
  client: Client
}

inBrowser.each([
  [
    'a page',
    ({ page }: Old) => page.getByRole('link', { name: 'Health' }).first().click(),
    ({ page }: Old) => page.getByRole('heading', { name: 'Health', exact: true }).first().waitFor(LATE),
  ],
  [
    'what opens over every page',
    ({ page }: Old) => page.keyboard.press('Control+k'),
    async ({ page }: Old) => {
      await page.getByRole('navigation').first().waitFor(LATE)
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: /^Find/ }).waitFor(LATE)
    },
  ],
  [
    'to sign in again',
    async ({ client }: Old) => {
      for (const { device_id } of await client.devices.list()) await client.devices.revoke(device_id)
    },
    ({ page }: Old) => page.getByLabel('paste the operator’s token').waitFor(LATE),
  ],
])(
  'a page of the build before says so when it needs %s, and works after it was loaded again',
  async (what, use, works) => {
    putConsole()
    const yard = await openYard(onTestFinished)
    const start = (port: number) => yard.start({ flags: ['--port', String(port)], env: operatorEnv })
    const old = await start(0)
    await using browser = await connectBrowser()
    const url = `http://localhost:${old.port}`
    const token = await signIn(browser, url)
    // A browser that has never loaded anything. A worker would keep what the page loads.
    const own = await browser.newContext({ viewport: DESK, serviceWorkers: 'block' })
    const { page } = watch(await own.newPage(), url)
    await page.addInitScript(`sessionStorage.setItem('quarterdeck.token', ${JSON.stringify(token)})`)
    await page.goto(`${url}/console/chat`)
    await page.getByRole('navigation').first().waitFor(LATE)
    await page.keyboard.press('Escape')

    await old.kill()
    putNextConsole()
    const { url: address } = await start(old.port)
    await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached', ...LATE })
    const opened = { page, client: createClient({ url: address, token: OPERATOR_TOKEN }) }
    await use(opened)
    await page.getByRole('heading', { name: 'A part of the console could not be loaded' }).waitFor(LATE)
    expect(await page.locator('body').innerText()).toContain('it has a new version')
    await page.getByRole('button', { name: 'Load it again' }).click()

    await works(opened)
    expect([what, await page.getByRole('heading', { name: 'A part of the console' }).count()]).toEqual([what, 0])
  },
)

/** Signs in elsewhere, and returns the token of that device. */
async function signIn(browser: Browser, url: string): Promise<string> {
  const page = await browser.newPage()
  await page.goto(`${url}/console/chat`)
  await pasteToken(page, OPERATOR_TOKEN)
  await page.getByRole('navigation').first().waitFor(LATE)
  const token = await page.evaluate<string>(`sessionStorage.getItem('quarterdeck.token')`)
  await page.close()
  return token
}
