// A diff as somebody reviews it: colours, the lines between, comments that go back to the agent, and the width.

import type { Page } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, signIn } from './support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const LATE = { timeout: 60_000 }
const DESK = { width: 1440, height: 900 }

const source = Array.from({ length: 200 }, (_, i) =>
  i === 30 ? '/*' : i === 60 ? '*/' : `const line${i + 1} = 'text ${i + 1}'`,
)
const LONG = `const line180 = '${'long '.repeat(60)}'`
const edited = source.map((line, i) =>
  i === 49 ? 'in a com\u202ement' : i === 99 ? 'run(100)' : i === 179 ? LONG : line,
)
const textOf = (lines: readonly string[]): string => `${lines.join('\n')}\n`

async function ask(house: ConsoleHouse) {
  const shop = house.folder('shop', { 'src/lines.ts': textOf(source) })
  const answer = house.agent('window-1', shop)('ask_approval', {
    ...{ title: 'Change some lines', file_path: 'src/lines.ts', diff: textOf(edited), risk_level: 'high' },
  })
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
  const [asked] = await house.client.approvals({ status: 'pending' })
  return { answer, path: `/inbox/${asked?.approval_id}` }
}

/** The texts that are painted in a colour now, of rows with this number. */
const painted = (page: Page, tone: string): Promise<string[]> =>
  page.evaluate(
    `[...(CSS.highlights.get('code-${tone}') ?? [])].map((range) => range.startContainer.data.slice(range.startOffset, range.endOffset))`,
  )
const diffOf = (page: Page) => page.getByRole('group', { name: 'What changes' })

inBrowser('a diff has colours that know what stands above, and opens the lines between', async () => {
  await using house = await openConsoleHouse()
  const { answer, path } = await ask(house)
  void answer.catch(() => {})
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: path, viewport: DESK })
  const diff = diffOf(page)
  await diff.getByText('46 lines not in the diff').waitFor()

  // Line 50 stands in a comment that begins at line 31, which the diff does not have. The mark keeps its own look.
  await expect.poll(() => painted(page, 'comment'), LATE).toEqual(expect.arrayContaining(['in a com', 'ment']))
  expect((await painted(page, 'comment')).join('')).not.toContain('U+202E')
  expect(await painted(page, 'comment')).not.toContain('run(100)')
  expect(await diff.locator('mark').first().innerText()).toBe('<U+202E>')

  await diff.getByRole('button', { name: 'Show last 20' }).first().click()
  await diff.getByText('26 lines not in the diff').waitFor()
  expect(await diff.getByText("const line46 = 'text 46'").count()).toBe(1)
  await diff.getByRole('button', { name: 'Show all 26' }).click()
  await diff.getByText("const line1 = 'text 1'", { exact: true }).waitFor()
  // The button is gone, and the keys still scroll what it opened.
  expect(await page.evaluate("document.activeElement.closest('article') !== null")).toBe(true)
  await page.getByRole('button', { name: 'Next change' }).click()
  await diff.getByRole('button', { name: 'Show first 20' }).first().click()
  await page.mouse.wheel(0, 300)
  await expect.poll(() => diff.getByText('23 lines not in the diff').count(), LATE).toBe(1)
  for (let i = 0; i < 2; i += 1) await page.getByRole('button', { name: 'Next change' }).click()
  await diff.getByRole('button', { name: 'Show all below' }).click()
  await diff.getByText("const line184 = 'text 184'").waitFor()
  expect(await diff.getByRole('button', { name: /below/ }).count()).toBe(0)
  expect(await barriersOf(page)).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser('comments on lines survive Escape and a reload, hold back a yes, and go to the agent with a no', async () => {
  await using house = await openConsoleHouse()
  const { answer, path } = await ask(house)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: path, viewport: DESK })
  const { keyboard } = page
  await diffOf(page).getByText('46 lines not in the diff').waitFor()
  await keyboard.press('n')
  await keyboard.press('c')
  await keyboard.type('Why is it gone?')
  await keyboard.press('Escape')
  // The focus is at the line, and goes to the next one with the arrows.
  await expect.poll(async () => (await lookAt(page)).focus, LATE).toBe('button Comment on removed line 50')
  await keyboard.press('ArrowDown')
  await keyboard.press('Enter')
  await keyboard.type('An odd character.')
  await page.getByText('Only a rejection sends your 2 comments').waitFor()
  await page.reload()
  await page.getByText('Only a rejection sends your 2 comments').waitFor()
  for (const name of [/^Approve/, /^Edit e|^Edit$/]) {
    expect(await page.getByRole('button', { name }).first().getAttribute('aria-disabled')).toBe('true')
  }
  await keyboard.press('n')
  await page.getByRole('button', { name: 'Edit the comment on removed line 50' }).click()
  await keyboard.type(' Keep it.')
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Comment on line 51' }).click()
  await keyboard.type('never mind')
  await page.getByRole('button', { name: 'Delete the comment on line 51' }).click()
  expect(await barriersOf(page)).toEqual([])

  await page.getByRole('button', { name: /^Reject/ }).click()
  const dialog = page.getByRole('dialog')
  const reason = dialog.getByRole('textbox')
  await reason.fill('x'.repeat(1_950))
  await dialog.getByText(/characters too long together/).waitFor()
  expect(await dialog.getByRole('button', { name: /^Reject/ }).getAttribute('aria-disabled')).toBe('true')
  await reason.fill('Two things.')
  expect(await barriersOf(page)).toEqual([])
  await dialog.getByRole('button', { name: /^Reject/, disabled: false }).click()
  expect(await answer).toMatchObject({
    status: 'rejected',
    reason: [
      'Two things.',
      "src/lines.ts:50 (removed) — Why is it gone? Keep it.\n> const line50 = 'text 50'",
      'src/lines.ts:50 — An odd character.\n> in a com<U+202E>ment',
    ].join('\n\n'),
  })
  expect(complaints).toEqual([])
})

inBrowser(
  'the list gives way at 1024 and where somebody wants it, and a long line is seen when its end was',
  async () => {
    await using house = await openConsoleHouse()
    const { answer, path } = await ask(house)
    void answer.catch(() => {})
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: path, viewport: { width: 1024, height: 900 } })
    const diff = diffOf(page)
    await diff.getByText('46 lines not in the diff').waitFor()
    const list = page.getByRole('searchbox').or(page.getByPlaceholder('Words, agent, folder or owner'))
    const back = page.getByRole('link', { name: 'Back to the list' })
    expect([await list.isVisible(), await back.isVisible()]).toEqual([false, true])
    await page.setViewportSize(DESK)
    expect([await list.isVisible(), await back.isVisible()]).toEqual([true, false])
    await page.getByRole('button', { name: 'Full width' }).click()
    expect([await list.isVisible(), await back.isVisible()]).toEqual([false, true])
    await page.getByRole('button', { name: 'Side by side', pressed: true }).waitFor()

    await page.getByRole('button', { name: 'Wrap lines', pressed: true }).click()
    await page.getByRole('button', { name: 'Side by side', pressed: false }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Wrap lines', pressed: false }).waitFor()
    expect(await list.isVisible()).toBe(false)
    // To the end, down. The end of the long line is beside the screen.
    await diff.hover()
    const last = diff.getByRole('button', { name: 'Show all below' })
    await expect
      .poll(async () => {
        await page.mouse.wheel(0, 2_000)
        return last.isVisible()
      }, LATE)
      .toBe(true)
    await page.waitForTimeout(1_000)
    expect((await lookAt(page)).tooWide).toBe(0)
    const approve = page.getByRole('button', { name: /^Approve/ })
    expect(await approve.isEnabled()).toBe(false)
    expect(await barriersOf(page)).toEqual([])
    await page.mouse.wheel(5_000, 0)
    await expect.poll(() => approve.isEnabled(), LATE).toBe(true)
    await page.keyboard.press('a')
    await page.getByRole('dialog').waitFor()
    expect(await page.getByText('You have not looked at').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

inBrowser('a diff of 20,000 lines has fewer than 1,000 elements in the page, also side by side', async () => {
  await using house = await openConsoleHouse()
  const lines = Array.from({ length: 10_000 }, (_, i) => `const line${i} = ${i}`)
  const shop = house.folder('shop', { 'long.ts': textOf(lines) })
  const after = textOf(lines.map((line) => line.replace('const', 'let')))
  const answer = house.agent('window-1', shop)('ask_approval', { title: 'Long', file_path: 'long.ts', diff: after })
  void answer.catch(() => {})
  await Promise.all(Array.from({ length: 20 }, () => house.say('wipe')))
  await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(21)
  const change = (await house.client.approvals({ status: 'pending' })).find(({ kind }) => kind === 'diff')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: `/inbox/${change?.approval_id}`, viewport: DESK })
  const toMiddle = async (): Promise<number> => {
    await diffOf(page)
      .getByText(/line\d+ = \d+/)
      .first()
      .waitFor()
    await page.getByRole('article').hover()
    for (let turn = 0; turn < 10; turn += 1) await page.mouse.wheel(0, 3_000)
    await page.waitForTimeout(1_000)
    return page.evaluate<number>(`document.querySelectorAll('*').length`)
  }

  expect(await toMiddle()).toBeLessThan(1_000)
  await page.getByRole('button', { name: 'Full width' }).click()
  await page.getByRole('button', { name: 'Side by side', pressed: true }).waitFor()
  expect(await toMiddle()).toBeLessThan(1_000)
  expect(await barriersOf(page)).toEqual([])
  expect(complaints).toEqual([])
})
