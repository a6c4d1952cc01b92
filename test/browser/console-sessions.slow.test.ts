// The page of sessions in a real browser: what failed, names that people give, and several sessions at once.

import { text } from 'node:stream/consumers'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn } from '../console/support/console-page.ts'
import { until } from '../crash/support/until.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 240_000 }

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Sessions' }).getByRole('listitem')
const rowOf = (page: Page, name: string) => rowsOf(page).filter({ hasText: name })

/** The id of what a new session answers. */
async function answerTo(house: ConsoleHouse, words: string): Promise<string> {
  const id = await house.say(words)
  const messages = async () => (await house.client.sessions.get(id)).messages
  await until('an answer', async () => (await messages()).length === 2)
  return (await messages()).at(-1)?.message_id ?? ''
}

/** What the browser saves when this is done. */
async function savedBy(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()])
  return { name: download.suggestedFilename(), text: await text(await download.createReadStream()) }
}

inBrowser('a session whose last run failed says so in the list, in its filter and in the chats', BUSY, async () => {
  await using house = await openConsoleHouse()
  await house.say('hello')
  const failed = await house.say('fail')
  await until(
    'it has failed',
    async () => (await house.client.sessions.list({ status: 'failed' })).sessions.length === 1,
  )
  await using browser = await connectBrowser()
  const { page, go, complaints } = await signIn(browser, house, { at: '/sessions' })
  await page.getByText('2 sessions', { exact: true }).waitFor()
  await rowOf(page, 'fail').getByText('Failed', { exact: true }).waitFor()
  await rowOf(page, 'fail').getByText('The model broke.').waitFor()

  await go('/sessions?state=failed')
  await page.getByText('1 session', { exact: true }).waitFor()
  expect(await page.getByRole('combobox', { name: 'State' }).inputValue()).toBe('failed')
  expect(await rowsOf(page).count()).toBe(1)
  expect(await barriersOf(page)).toEqual([])
  await page.setViewportSize(PHONE)
  expect(await barriersOf(page)).toEqual([])
  expect(await lookAt(page)).toMatchObject({ tooWide: 0, smallTargets: [] })
  await page.setViewportSize({ width: 1440, height: 900 })

  await go(`/chat/${failed}`)
  await page.getByRole('navigation', { name: 'Recent chats' }).getByText('Failed').waitFor()
  // The next run is another chance.
  await house.say('hello', failed)
  await go('/sessions?state=failed')
  await page.getByText('No session fits these filters').waitFor()
  expect(complaints).toEqual([])
})

inBrowser(
  'sessions are named in the list, on their page and in the chat, and hidden characters are seen',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const id = await house.say('hello')
    await using browser = await connectBrowser()
    const { page, go, complaints } = await signIn(browser, house, { at: '/sessions' })
    const rename = async (name: string) => {
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      await page.getByRole('button', { name: 'Rename', exact: true }).last().click()
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.getByRole('button', { name: 'More about hello' }).click()
    await page.getByRole('menuitem', { name: 'Rename…', disabled: false }).click()
    await rename('Night\u202e watch')
    await rowOf(page, 'Night<U+202E> watch').waitFor()

    await go(`/sessions/${id}`)
    await page.getByRole('heading', { name: 'Night<U+202E> watch' }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Rename…', disabled: false }).click()
    await rename('Day watch')
    await page.getByRole('heading', { name: 'Day watch' }).waitFor()

    await go(`/chat/${id}`)
    await page.getByRole('heading', { name: 'Day watch' }).waitFor()
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    expect(await barriersOf(page)).toEqual([])
    await rename('')
    await page.getByRole('heading', { name: 'hello' }).waitFor()
    expect(complaints).toEqual([])
  },
)

inBrowser(
  'several sessions are selected with the pointer and with keys, exported and deleted together',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    for (const words of ['hello one', 'hello two', 'hello three', 'hello four']) await answerTo(house, words)
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/sessions' })
    await rowOf(page, 'hello one').waitFor()
    const selected = page.getByRole('status').filter({ hasText: 'selected' })
    const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}` })
    await page.keyboard.press('j')
    await page.locator(':focus', { hasText: 'hello four' }).waitFor()
    await page.keyboard.press('x')
    expect(await selected.textContent()).toBe('1 selected')
    await box('hello two').click({ modifiers: ['Shift'] })
    expect(await selected.textContent()).toBe('3 selected')
    expect(await barriersOf(page)).toEqual([])
    await page.keyboard.press('Escape')
    await selected.waitFor({ state: 'detached' })
    await page.getByText('4 sessions', { exact: true }).waitFor()

    await box('hello two').check()
    await box('hello three').check()
    const many = await savedBy(page, async () => {
      await page.getByRole('button', { name: 'Export the selected sessions' }).click()
      await page.getByRole('menuitem', { name: 'Export as Markdown' }).click()
    })
    expect(many.name).toBe('2-sessions.md')
    expect(many.text.match(/^# .*$/gm)).toEqual(['# hello three', '# hello two'])
    const one = await savedBy(page, async () => {
      await page.getByRole('button', { name: 'More about hello one' }).click()
      await page.getByRole('menuitem', { name: 'Export as JSON' }).click()
    })
    expect(JSON.parse(one.text)).toMatchObject({ session: { title: 'hello one' } })

    await page.getByRole('button', { name: 'Delete…' }).click()
    await page.getByRole('dialog', { name: 'Delete 2 sessions?' }).getByRole('button', { name: 'Delete' }).click()
    await page.getByText('2 sessions', { exact: true }).waitFor()
    expect((await house.client.sessions.list()).sessions.map(({ title }) => title)).toEqual(['hello four', 'hello one'])
    expect(complaints).toEqual([])
  },
)

inBrowser('the list is ordered and narrowed by what people think of answers', BUSY, async () => {
  await using house = await openConsoleHouse()
  const answer = await answerTo(house, 'hello one')
  await answerTo(house, 'something else')
  await house.client.sessions.rate(answer, { value: 'down', note: 'Wrong port.' })
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/sessions' })
  const titles = () => rowsOf(page).getByRole('link').allTextContents()
  await expect.poll(titles).toEqual(['something else', 'hello one'])
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Most tokens first')
  await expect.poll(titles).toEqual(['hello one', 'something else'])
  await page.getByRole('combobox', { name: 'Feedback' }).selectOption('Bad answers')
  await expect.poll(titles).toEqual(['hello one'])
  await page.getByRole('combobox', { name: 'Feedback' }).selectOption('Good answers')
  await page.getByText('No session fits these filters').waitFor()
  expect(complaints).toEqual([])
})
