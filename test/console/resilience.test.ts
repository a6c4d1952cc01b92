// What a browser may refuse, and more tabs than the stream has room for.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from './support/console-house.ts'
import { DESK, signIn, watch } from './support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const LATE = { timeout: 60_000 }

const refuse = (name: string) =>
  `Object.defineProperty(window, '${name}', { get() { throw new DOMException('refused', 'SecurityError') } })`

inBrowser.each([
  ['no database', refuse('indexedDB')],
  ['a database that never answers', 'IDBFactory.prototype.open = () => ({})'],
  ['no channels between tabs', 'delete window.BroadcastChannel'],
  ['no storages', `${refuse('localStorage')}; ${refuse('sessionStorage')}`],
  ['no room', `Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }`],
])('a browser with %s signs in and sends', async (_name, script) => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  for (const keep of ['', '&keep']) {
    const own = await browser.newContext({ viewport: DESK })
    const { page, complaints } = watch(await own.newPage(), house.url)
    await page.addInitScript(script)
    await page.goto(`${await house.link('/chat')}${keep}`)
    await page.getByRole('navigation').first().waitFor(LATE)
    await page.getByRole('textbox').first().fill('hello')
    await page.keyboard.press('Enter')
    await page.getByText('Cast off').first().waitFor(LATE)
    expect(complaints).toEqual([])
    await own.close()
  }
})

inBrowser('ten tabs with a session each see what happens in it, over one stream', async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const ids = await Promise.all(Array.from({ length: 10 }, (_, i) => house.say(`first ${i}`)))
  const first = await signIn(browser, house, { at: `/chat/${ids[0]}` })
  const tabs = [first]
  for (const id of ids.slice(1)) {
    const tab = watch(await first.page.context().newPage(), house.url)
    await tab.page.goto(`${house.url}/console/chat/${id}`)
    tabs.push(tab)
  }
  for (const { page } of tabs) await page.getByText('Aye.').first().waitFor(LATE)

  for (const [i, id] of ids.entries()) await house.say(`second ${i}`, id)

  for (const [i, { page }] of tabs.entries()) await page.getByText(`second ${i}`).first().waitFor(LATE)
  expect(await house.streams()).toBe(1)
  expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([])
})
