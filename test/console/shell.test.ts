// What stands around the pages: the palette, the rail, and who is signed in.

import { expect, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { until } from '../crash/support/until.ts'
import { AGENT, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn } from './support/console-page.ts'

test('the palette finds sessions, open items, agents, settings, pages and commands by typing', async () => {
  await using house = await openConsoleHouse()
  const session = await house.say('hello Emden')
  await house.say('pay')
  await until('something waits', async () => (await house.client.inbox()).items.length === 1, 60_000)
  const [item] = (await house.client.inbox()).items
  await using browser = await connectBrowser()
  const { page, complaints, go } = await signIn(browser, house, { at: '/usage' })
  const field = page.getByRole('combobox', { name: /^Find/ })
  const found = page.getByRole('listbox', { name: 'Found' }).getByRole('option')
  async function open(words: string, hint: string): Promise<string> {
    await page.keyboard.press('Control+k')
    await field.fill(words)
    await found.filter({ hasText: hint }).first().waitFor()
    expect(await barriersOf(page)).toEqual([])
    // The field keeps the focus; the arrows choose.
    while (!(await page.locator('[role=option][aria-selected=true]').innerText()).includes(hint))
      await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await field.waitFor({ state: 'detached' })
    await page.waitForURL((url) => !url.pathname.endsWith('/usage'))
    const { pathname } = new URL(page.url())
    await page.goBack()
    await page.waitForURL(/usage$/)
    return pathname.replace('/console', '')
  }

  expect(await open('emd', 'Session')).toBe(`/chat/${session}`)
  expect(await open('pay', 'Waits')).toBe(`/inbox/${item?.id}`)
  expect(await open(AGENT, 'Agent')).toBe(`/agents/${AGENT}`)
  expect(await open('notif', 'Settings')).toBe('/settings/push')
  expect(await open('go to health', 'g h')).toBe('/health')
  // While letters are being composed, Enter chooses one of them.
  await page.keyboard.press('Control+k')
  const enter = "new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true })"
  await page.evaluate(`document.querySelector('[role=combobox]').dispatchEvent(${enter})`)
  expect(await field.isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await go(`/chat/${session}`)
  expect(await page.evaluate("document.querySelector('link[rel=icon]').href")).toBe(`${house.url}/console/icon.svg`)
  expect(complaints).toEqual([])
})

test('letters that are typed before the palette is there reach the palette, and not the page below', async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/theme' })
  const arrive = Promise.withResolvers<void>()
  await page.route(/Palette-/, async (route) => {
    await arrive.promise
    await route.continue()
  })
  await page.reload()
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const theme = () => page.evaluate('document.documentElement.dataset.theme ?? null')
  const before = await theme()
  await page.keyboard.press('Control+k')
  // Each is a key of the page: the theme, and the names in the rail.
  await page.keyboard.type('tb')
  arrive.resolve()
  await expect.poll(() => page.getByRole('combobox', { name: /^Find/ }).inputValue()).toBe('tb')
  expect(await theme()).toBe(before)
  expect(complaints).toEqual([])
})

test('the rail folds to icons that keep their names, and stays so', async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/settings/theme' })
  const rail = page.getByRole('navigation', { name: 'Pages' })
  const width = async () => (await rail.boundingBox())?.width ?? 0
  const wide = await width()
  await rail.getByRole('button', { name: 'Hide names' }).click()
  await expect.poll(width).toBeLessThan(wide / 2)
  await page.reload()
  await rail.waitFor()

  expect(await width()).toBeLessThan(wide / 2)
  expect(await rail.getByRole('link', { name: 'Sessions' }).getAttribute('title')).toBe('Sessions')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await barriersOf(page)).toEqual([])
    expect((await lookAt(page)).tooWide).toBe(0)
  }
  await rail.getByRole('button', { name: 'Show names' }).click()
  await expect.poll(width).toBe(wide)
  expect(complaints).toEqual([])
})

test('the page says who is signed in, and lets them out, at a desk and on a phone', async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const desk = await signIn(browser, house, { at: '/settings/theme' })
  await desk.page.getByRole('link', { name: /^Signed in as\s+operator\s+Admin$/ }).waitFor()
  const phone = await signIn(browser, house, { at: '/settings/theme', viewport: PHONE })
  await phone.page.getByRole('button', { name: 'More', exact: true }).click()
  const more = phone.page.getByRole('dialog', { name: 'More' })
  await more.getByRole('link', { name: /^Signed in as\s+operator\s+Admin$/ }).waitFor()
  expect(await barriersOf(phone.page)).toEqual([])
  expect((await lookAt(phone.page)).smallTargets).toEqual([])

  await more.getByRole('button', { name: 'Sign out' }).click()
  await phone.page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor()
  await phone.page.getByText(`Quarterdeck at ${new URL(house.url).host}`).waitFor()
  expect(await barriersOf(phone.page)).toEqual([])
  expect([...desk.complaints, ...phone.complaints]).toEqual([])
})
