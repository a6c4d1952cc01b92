// What a reader does in part 5, in a real browser: types a token and a message, and allows the call.

import { chromium } from 'playwright-core'
import { expect } from 'vitest'
import { findBrowser, NO_BROWSER } from '../browser/find-browser.ts'

const ADDRESS = 'http://127.0.0.1:8080/'
const MESSAGE = 'Use refund_order for 1044.'

/** `here` makes of the words of a page what they mean in this replay. */
export async function tryPage(shown: string, here: (text: string) => string, token: string): Promise<void> {
  const page = await fetch(here(ADDRESS))
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  const executablePath = findBrowser(process.env)
  if (executablePath === null) {
    process.stderr.write(`The page of docs/learn/5-your-own-page.md was fetched, but not used. ${NO_BROWSER}\n`)
    return
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout: 180_000 })
  try {
    const tab = await browser.newPage()
    tab.setDefaultTimeout(120_000)
    await tab.goto(here(ADDRESS))
    await tab.getByLabel('Your token').fill(token)
    await tab.getByLabel('Message').fill(MESSAGE)
    await tab.getByRole('button', { name: 'Send' }).click()
    await tab.getByRole('button', { name: 'Allow' }).click()
    await tab.getByText('Refunded').first().waitFor()
    const lines = shown.trim().split('\n')
    await expect
      .poll(async () => (await tab.locator('#talk').innerText()).split('\n').filter((line) => line.trim() !== ''))
      .toEqual(lines)
  } finally {
    await browser.close()
  }
}
