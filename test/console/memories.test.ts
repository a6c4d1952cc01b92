// What agents remember, as an operator and as a user see, correct and erase it.

import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { signIn } from './support/console-page.ts'

const undo = new AsyncDisposableStack()
let browser: Browser
let house: ConsoleHouse

const fact = (id: string, text: string) => ({
  ...{ id, agent: 'keeper', text, session: crypto.randomUUID(), run: crypto.randomUUID() },
  ...{ at: Date.now(), correctedAt: null },
})

async function seed(dataDir: string): Promise<void> {
  const store = createSqliteStore({
    path: join(dataDir, 'quarterdeck.db'),
    fatal(error: Error): never {
      throw error
    },
  })
  const about = (key: string, ...facts: object[]) =>
    ({ channel: 'kept memories', key, session: null, value: JSON.stringify(facts), at: 1 }) as const
  const notes = [
    about('local_user', fact('tea', 'Likes tea.'), fact('rome', '<b>Lives</b> in Rome<U+202E>.')),
    about('ada', fact('sea', 'Sails.')),
  ]
  const { results } = await store.commit([{ type: 'import_records', notes }])
  if (!results.every(({ ok }) => ok)) throw new Error('the memories could not be brought in')
  await store.close()
}

beforeAll(async () => {
  browser = undo.use(await connectBrowser())
  house = undo.use(await openConsoleHouse({ seed }))
})
afterAll(() => undo.disposeAsync())

test('an operator corrects what is kept about them and forgets what is kept about somebody else', async () => {
  const { page, complaints } = await signIn(browser, house, { at: '/settings/memories', serviceWorkers: 'block' })
  const rows = page.getByRole('list', { name: 'Memories' }).getByRole('listitem')

  await expect.poll(() => rows.count()).toBe(2)
  expect(await rows.filter({ hasText: '<b>Lives</b> in Rome' }).locator('mark').innerText()).toBe('<U+202E>')
  await page.getByRole('button', { name: 'Correct: Likes tea.' }).click()
  await page.getByLabel('What is true').fill('Likes green tea.')
  await page.getByRole('dialog').getByRole('button', { name: 'Correct', exact: true }).click()
  await rows.filter({ hasText: 'Likes green tea.' }).filter({ hasText: 'corrected' }).waitFor()

  await page.getByLabel('About', { exact: true }).selectOption('*')
  await expect.poll(() => rows.count()).toBe(3)
  await page.getByLabel('About', { exact: true }).selectOption('ada')
  await expect.poll(() => rows.count()).toBe(1)
  await page.getByRole('button', { name: 'Forget everything' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Forget everything' }).click()
  await page.getByText('No agent keeps anything about ada').waitFor()
  expect((await house.client.memories.list({ owner: '*' })).memories.map(({ text }) => text).sort()).toEqual([
    '<b>Lives</b> in Rome<U+202E>.',
    'Likes green tea.',
  ])
  expect(complaints).toEqual([])
})

test('a user forgets theirs on the page for users', async () => {
  const page = await (await browser.newContext()).newPage()
  await page.goto(`${house.url}/talk/settings`)
  await page.getByRole('button', { name: 'Forget: <b>Lives</b>' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Forget', exact: true }).click()
  const rows = page.getByRole('list', { name: 'Memories' }).getByRole('listitem')

  await expect.poll(() => rows.count()).toBe(1)
  expect((await house.client.memories.list({ owner: '*' })).memories).toHaveLength(1)
})
