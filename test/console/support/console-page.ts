// A page of the console in a real browser, and what is wrong with it.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { ConsoleHouse } from './console-house.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** For a machine that has other things to do. */
const PATIENT_MS = 60_000

export const PHONE = { width: 390, height: 844 }
export const DESK = { width: 1280, height: 800 }

export interface ConsolePage {
  readonly page: Page
  /** What the policy refused, scripts that failed, requests that left the server, dialogs. A test says which it expects: none. */
  readonly complaints: readonly string[]
  /** Opens a page of the console as a link on another page would: the app stays. */
  go(path: string): Promise<void>
}

/** Opens the link that the server printed, and waits until the console is there. */
export async function signIn(
  browser: Browser,
  house: Pick<ConsoleHouse, 'url' | 'link'>,
  { at = '', ...context }: { at?: string } & BrowserContextOptions = {},
): Promise<ConsolePage> {
  const own = await browser.newContext({ viewport: DESK, ...context })
  const opened = watch(await own.newPage(), house.url)
  await opened.page.goto(await house.link(at))
  await opened.page.getByRole('navigation').first().waitFor()
  return opened
}

/** A page that keeps a list of what goes wrong in it. */
export function watch(page: Page, url: string): ConsolePage {
  const complaints: string[] = []
  page.setDefaultTimeout(PATIENT_MS)
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    const text = message.text()
    // The browser logs each failed request, also for the service worker. Tests that take the server away expect that.
    const isRequest =
      text.startsWith('Failed to load resource') || text.endsWith('error occurred when fetching the script.')
    if (message.type() === 'error' && !isRequest) complaints.push(`console: ${text}`)
  })
  page.on('request', (request) => {
    const address = new URL(request.url())
    const isOurs = address.origin === url || address.protocol === 'blob:' || address.protocol === 'data:'
    if (!isOurs) complaints.push(`request: ${request.url()}`)
  })
  return {
    page,
    complaints,
    async go(path) {
      await page.evaluate(
        `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
      )
    },
  }
}

/** What axe finds wrong. */
export async function barriersOf(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  return page.evaluate(
    `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target, any }) =>
        id + ' ' + target.join(' ') + ' ' + (any[0]?.message ?? ''))))`,
  )
}

/** What a look at the page tells: headings, the title, buttons, room, focus. */
export interface Look {
  title: string
  headings: string[]
  /** Of the page, or of the dialog on top of it. */
  primaryButtons: string[]
  /** How much wider than the screen the page is. */
  tooWide: number
  /** Smaller than a finger, on a phone. */
  smallTargets: string[]
  focus: string
}

const LOOK = `(() => {
  const isShown = (one) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && one.getBoundingClientRect().width > 0
  const top = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document
  const name = (one) => (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)
  const focused = document.activeElement
  return {
    title: document.title,
    headings: [...document.querySelectorAll('h1')].filter(isShown).map(name),
    primaryButtons: [...top.querySelectorAll('button[class*="primary"]')].filter(isShown).map(name),
    tooWide: Math.max(0, document.documentElement.scrollWidth - innerWidth),
    smallTargets: innerWidth > 500 ? [] : [...top.querySelectorAll('button, select, input:not([type=checkbox], [type=radio], [type=file]), nav a')]
      // The bar of a diff has a button that does the same as those beside its lines.
      .filter((one) => isShown(one) && one.dataset.place === undefined)
      .filter((one) => { const box = one.getBoundingClientRect(); return box.height < 43.5 || box.width < 43.5 })
      .map((one) => one.tagName.toLowerCase() + ' ' + name(one) + ' ' + Math.round(one.getBoundingClientRect().width) + 'x' + Math.round(one.getBoundingClientRect().height)),
    focus: focused === null || focused === document.body ? '' : focused.tagName.toLowerCase() + ' ' + name(focused),
  }
})()`

export const lookAt = (page: Page): Promise<Look> => page.evaluate<Look>(LOOK)
