// A hosted coding agent in the console: a chat with it, a permission, and its changes file by file.

import { existsSync, readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { CODER, type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn } from './support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const LATE = { timeout: 60_000 }

const source = `${Array.from({ length: 80 }, (_, i) => `const line${i + 1} = ${i + 1}`).join('\n')}\n`
const workspace = { 'src/a.ts': source, 'src/b.ts': source, 'src/c.ts': source, 'notes.txt': 'old\n' }
const changed = (text: string) => source.replace('line40 = 40', text).replaceAll('\n', '\\n')

/** The lines that the agent obeys: four files that are text, one of them critical. */
const work = [
  `write src/a.ts ${changed('forty = 40')}`,
  `write src/b.ts ${changed('fifty = 50')}`,
  'write src/c.ts thrown',
  'write notes.txt new',
  'write .github/workflows/deploy.yml on: push',
  'leave ln -s notes.txt link',
  'say All done.',
].join('\n')

async function asked(house: ConsoleHouse, script: string): Promise<string> {
  await house.client.send(crypto.randomUUID(), script, { agent: CODER })
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
  return (await house.client.approvals({ status: 'pending' }))[0]?.approval_id ?? ''
}

const open = (page: Page, path: string) => page.getByRole('button', { name: new RegExp(`^${path}`) }).click()

inBrowser('changes are reviewed file by file: one is edited, one kept, one thrown away, and written once', async () => {
  await using house = await openConsoleHouse({ hosted: { workspace } })
  const id = await asked(house, work)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: `/inbox/${id}`, reducedMotion: 'reduce' })
  await page.getByRole('heading', { name: /^Write 5 files to shop/ }).waitFor()
  const approve = page.getByRole('button', { name: /^Approve/ })
  expect(await barriersOf(page)).toEqual([])
  // One of them is critical, so all that is written has to be looked at.
  await page.getByText('Open what is written and scroll to its end: 5 files to go.').waitFor()
  expect(await approve.getAttribute('aria-disabled')).toBe('true')

  await page.getByRole('group', { name: 'What happens to src/b.ts' }).getByText('Keep for later').click()
  await page.getByRole('group', { name: 'What happens to src/c.ts' }).getByText('Throw away').click()
  await page.getByText('3 files to go').waitFor()
  await page.getByRole('button', { name: 'Edit notes.txt' }).click()
  const field = page.getByRole('textbox', { name: 'The whole file as it should be' })
  await field.fill('mine\n')
  await page.getByRole('button', { name: 'Keep the edit' }).click()
  await page.getByText('With your edit, this is written.').waitFor()
  await page.getByText('mine', { exact: true }).first().scrollIntoViewIfNeeded()
  await page.getByText('2 files to go').waitFor()
  await page.reload()
  await page.getByText('3 files to go').waitFor()

  for (const path of ['src/a.ts', 'notes.txt', '.github/workflows/deploy.yml']) await open(page, path)
  await expect
    .poll(async () => {
      await page.mouse.move(640, 400)
      await page.mouse.wheel(0, 400)
      return approve.getAttribute('aria-disabled')
    }, LATE)
    .toBeNull()
  expect(await barriersOf(page)).toEqual([])
  await approve.click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Writes 3 files, keeps 1 for later, throws 1 away.').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Approve' }).click()
  await expect.poll(async () => (await house.client.approval(id)).view.outcome?.facts.length, LATE).toBe(3)
  await page.goto(`${house.url}/console/inbox/${id}`)
  await page.getByText('Discarded').first().waitFor()
  expect(await barriersOf(page)).toEqual([])
  expect(complaints).toEqual([])

  const { shop } = house
  expect(readFileSync(shop('notes.txt'), 'utf8')).toBe('mine\n')
  expect(readFileSync(shop('src/a.ts'), 'utf8')).toContain('forty = 40')
  for (const path of ['src/b.ts', 'src/c.ts']) expect(readFileSync(shop(path), 'utf8')).toBe(source)
  expect(existsSync(shop('.github/workflows/deploy.yml'))).toBe(true)
  const { decided_by, view } = await house.client.approval(id)
  expect([decided_by !== null, view.outcome?.more]).toEqual([true, 'As an operator edited it: notes.txt.'])
})

inBrowser('the review fits a phone, and its keys do what its buttons do', async () => {
  await using house = await openConsoleHouse({ hosted: { workspace } })
  const id = await asked(house, 'write src/a.ts one\nwrite src/b.ts two')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, {
    at: `/inbox/${id}`,
    viewport: PHONE,
    hasTouch: true,
    reducedMotion: 'reduce',
  })
  await page.getByRole('heading', { name: /^Write 2 files to shop/ }).waitFor()
  await page.getByText('Writes 2 files.').waitFor()
  expect(await lookAt(page)).toMatchObject({ tooWide: 0, smallTargets: [], primaryButtons: ['Approvea'] })
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('radio', { name: 'Throw away' }).first().focus()
  await page.keyboard.press('ArrowLeft')
  await page.getByText('Writes 1 file, keeps 1 for later.').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('h2').first().focus()
  await page.keyboard.press('r')
  await page.getByRole('dialog').getByRole('textbox').fill('Both, or none.')
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Reject/ })
    .click()
  await expect.poll(async () => (await house.client.approval(id)).status, LATE).toBe('rejected')
  expect(complaints).toEqual([])
})

inBrowser('a chat with a hosted agent: a permission, its plan, its modes, its commands, and its changes', async () => {
  await using house = await openConsoleHouse({ hosted: { workspace } })
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat', reducedMotion: 'reduce' })
  await page.getByRole('combobox', { name: 'Agent' }).selectOption(CODER)
  await page
    .getByRole('textbox', { name: `Message ${CODER}` })
    .fill(
      'plan Look around;Write it down\ncommands plan,review\nusage 0.25 52000\nask-run npm test\nwrite notes.txt new\nsay Here it is.',
    )
  await page.keyboard.press('Enter')
  // The program asks before it runs a command.
  await page.getByRole('heading', { name: /npm test/ }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page
    .getByRole('article')
    .getByRole('button', { name: /^Reject/ })
    .click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Reject/ })
    .click()
  await page.getByRole('heading', { name: /^Change notes.txt/ }).waitFor()
  await page.getByText('Writes 1 file.').waitFor()
  await page.getByText('Progress: 0 of 2').waitFor()
  expect(await barriersOf(page)).toEqual([])
  await page.getByRole('button', { name: /^Approve/ }).click()
  await page.getByText('52K of 200K tokens · 0.25 USD').waitFor()
  await expect.poll(() => readFileSync(house.shop('notes.txt'), 'utf8'), LATE).toBe('new')

  const field = page.getByRole('textbox', { name: /^Message/ })
  await page.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('Code')
  await page.getByRole('button', { name: 'Options' }).click()
  await page.getByRole('combobox', { name: 'Model' }).selectOption('Large')
  await page.getByRole('checkbox', { name: 'Thinks' }).check()
  await field.fill('/')
  await page.getByRole('option', { name: /review/ }).waitFor()
  expect(await barriersOf(page)).toEqual([])
  await field.press('ArrowDown')
  await field.press('Enter')
  expect(await field.inputValue()).toBe('/review ')
  await field.fill('state')
  await field.press('Enter')
  await page.getByText('{"mode":"code","config":{"model":"large","thinks":"true"}}').waitFor()
  await expect.poll(() => page.getByRole('combobox', { name: 'Mode', exact: true }).inputValue(), LATE).toBe('code')
  await page.setViewportSize(PHONE)
  // The page takes its new shape a moment later.
  await expect.poll(() => lookAt(page), LATE).toMatchObject({ tooWide: 0, smallTargets: [] })
  expect(complaints).toEqual([])
})
