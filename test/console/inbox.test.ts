// The inbox of the console with the keyboard alone, with edits, and when somebody else decides.

import type { Locator } from 'playwright-core'
import { expect, inject, test } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, openConsoleHouse } from './support/console-house.ts'
import { barriersOf, lookAt, signIn } from './support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 30_000 }

const decided = async ({ client }: ConsoleHouse) =>
  (await client.approvals({ status: 'all' })).map(({ tool, status, reason, decided_channel }) => ({
    ...{ tool, status, reason, decided_channel },
  }))

inBrowser('the keyboard alone finds, opens, approves, rejects, and shows what it can do', BUSY, async () => {
  await using house = await openConsoleHouse()
  for (const words of ['note', 'wipe', 'pay']) await house.say(words)
  await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(3)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house)
  const { keyboard } = page
  const dialog = page.getByRole('dialog')

  // The field for a message has the focus, and Escape leaves it.
  await page.locator('textarea:focus').waitFor()
  await keyboard.press('Escape')
  expect((await lookAt(page)).focus).toBe('h1 New chat')
  await keyboard.press('g')
  await keyboard.press('i')
  await page.waitForURL('**/console/inbox')
  await page.getByRole('link', { name: /note/ }).first().waitFor()
  await keyboard.press('Shift+?')
  await dialog.getByText('Approve').or(dialog.getByText('Next')).first().waitFor()
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })

  // What is critical is on top. `a` looks, and then asks; a held key counts once.
  await keyboard.press('j')
  await keyboard.press('a')
  await page.waitForURL('**/console/inbox/*')
  await page.getByText('Harbour office').first().waitFor()
  await page.getByRole('button', { name: /^Approve/, disabled: false }).waitFor()
  await keyboard.down('a')
  for (let held = 0; held < 5; held += 1) await keyboard.down('a')
  await keyboard.up('a')
  await dialog.getByRole('heading', { name: 'Approve it?' }).waitFor()
  expect(house.ran).toEqual([])
  await keyboard.press('Control+Enter')
  await expect.poll(() => house.ran, { timeout: 20_000 }).toEqual([{ to: 'Harbour office', amount: 250 }])

  // The next one opens by itself, and has the focus.
  await page.getByText('/tmp/logs').first().waitFor()
  expect((await lookAt(page)).focus).not.toBe('')
  await page.getByRole('button', { name: /^Reject/, disabled: false }).waitFor()
  await keyboard.press('r')
  await dialog.getByLabel('Reason').waitFor()
  await keyboard.type('Not that folder. a r e ?')
  await keyboard.press('Control+Enter')
  await page.getByText('The tide turns at four.').last().waitFor()
  await page.getByText('Rejected: wipe').first().waitFor()

  await keyboard.press('Control+k')
  await page.getByRole('combobox', { name: /^Find/ }).waitFor()
  await keyboard.type('go to health')
  await keyboard.press('Enter')
  await page.waitForURL('**/console/health')
  expect(await decided(house)).toEqual([
    { tool: 'pay', status: 'consumed', reason: null, decided_channel: 'console' },
    { tool: 'wipe', status: 'rejected', reason: 'Not that folder. a r e ?', decided_channel: 'console' },
    { tool: 'note', status: 'pending', reason: null, decided_channel: null },
  ])
  expect(complaints).toEqual([])
})

inBrowser('an edit is checked by the server, shown beside the original, and is what runs', BUSY, async () => {
  await using house = await openConsoleHouse()
  await house.say('wipe')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  await page.getByRole('link', { name: /wipe/i }).first().click()
  await page.getByRole('button', { name: /^Edit/ }).click()
  const dialog = page.getByRole('dialog')

  await dialog.getByRole('button', { name: 'Edit as JSON' }).click()
  await dialog.getByLabel('All arguments').fill('{ "path": 7 }')
  await dialog.getByRole('button', { name: /^Check the edit/ }).click()
  await dialog.getByText('The server does not accept this edit.').waitFor()
  await dialog.getByRole('button', { name: 'Back to the edit' }).click()
  await dialog.getByLabel('All arguments').fill('{ "path": "/tmp/old-logs", "token": "[masked]" }')
  await dialog.getByRole('button', { name: /^Check the edit/ }).click()
  await dialog.getByText('/tmp/old-logs').filter({ visible: true }).first().waitFor()
  expect(await dialog.innerText()).toContain('/tmp/logs')
  await dialog.getByRole('button', { name: /^Approve the edit/, disabled: false }).click()

  // The secret was never in the browser, and the tool has it.
  await expect
    .poll(() => house.ran, { timeout: 20_000 })
    .toEqual([{ path: '/tmp/old-logs', token: 'a-secret-of-somebody' }])
  expect(await page.locator('body').innerText()).not.toContain('a-secret-of-somebody')
  expect(complaints).toEqual([])
})

inBrowser('what somebody else decides turns into who, what and where, also under an open question', BUSY, async () => {
  await using house = await openConsoleHouse()
  await house.say('wipe')
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  await page.getByRole('link', { name: /wipe/i }).first().click()
  await page.getByRole('button', { name: /^Remember/, disabled: false }).click()
  await page.getByRole('dialog').waitFor()

  const [approval] = await house.client.approvals({ status: 'pending' })
  if (approval === undefined) throw new Error('nothing waits')
  await house.client.reject(approval, { reason: 'Too late for that.' })

  await page.getByText('Too late for that.').first().waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('over HTTP').first().waitFor()
  expect(await page.getByRole('button', { name: /^Approve/ }).count()).toBe(0)
  // It stays in the list until nobody looks.
  expect(await page.getByRole('link', { name: /wipe/i }).count()).toBe(1)
  expect((await lookAt(page)).focus).not.toBe('')
  expect([house.ran, complaints]).toEqual([[], []])
})

inBrowser('agents elsewhere are answered where they are read, in the card and in the list', BUSY, async () => {
  await using house = await openConsoleHouse({ stallSeconds: 10 })
  const shop = house.folder('shop', { 'README.md': '# Shop\n' })
  const prompted = house.agent('window-1', shop)('forward_prompt', { prompt_text: 'Shall I go on?' })
  const stands = house.agent('window-2', shop)('wait_for_instruction', { message: 'All is done.' })
  await house.agent('window-3', shop)('heartbeat', { status_message: 'Thinking' })
  await expect.poll(async () => (await house.client.inbox()).items.length, LATE).toBe(3)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
  const { keyboard } = page

  // The card has a field, and Enter sends it.
  await page.getByRole('link', { name: /All is done/ }).click()
  await page.getByRole('heading', { name: 'What should it do next?' }).waitFor()
  await page.getByRole('button', { name: /^Resume/, disabled: false }).waitFor()
  await keyboard.press('e')
  await keyboard.press('Enter')
  await keyboard.type('Tidy up. a r')
  await keyboard.press('Enter')
  expect(await stands).toMatchObject({ status: 'resumed', instruction: 'Tidy up. a r' })

  // The rest is answered in the list.
  await page.goto(`${house.url}/console/inbox?kind=prompt`)
  await page.getByRole('link', { name: /Shall I go on/ }).waitFor()
  await page.getByRole('button', { name: 'Continue', disabled: false }).waitFor()
  await keyboard.press('j')
  await keyboard.press('a')
  expect(await prompted).toMatchObject({ decision: 'continue' })
  await page.getByText('Nothing fits the filter').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  const row = page.getByRole('listitem').filter({ hasText: 'Gone silent' })
  await row.getByLabel('Message').fill('Are you there?')
  await keyboard.press('Enter')
  await expect
    .poll(async () => (await house.client.inbox()).items.map(({ status }) => status), LATE)
    .toEqual(['nudged'])
  await row.getByRole('button', { name: 'Dismiss', disabled: false }).click()
  // It stays under the pointer until that goes away.
  await row.getByText('Done', { exact: true }).waitFor()
  await page.mouse.move(900, 400)
  await page.getByRole('heading', { name: 'Nothing waits' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/console/inbox')
  expect((await house.client.inbox({ status: 'done' })).items.map(({ kind }) => kind).sort()).toEqual([
    ...['alert', 'prompt', 'wait'],
  ])
  expect(complaints).toEqual([])
})

inBrowser('a filter looks at everything that is open, and what comes does not move what one reads', BUSY, async () => {
  await using house = await openConsoleHouse()
  for (let i = 0; i < 130; i += 1) await house.say(i === 0 ? 'wipe' : 'note')
  await expect.poll(async () => (await house.client.inbox()).total, { timeout: 120_000 }).toBe(130)
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/inbox?risk=low' })
  const field = page.getByLabel('Search by words, agent, folder or owner')
  await page.getByText('129 of 130 open fit').waitFor()
  await field.fill('/tmp/logs')
  await page.getByText('Nothing fits the filter').waitFor()
  await page.getByText('130 are open.').waitFor()
  await page.getByRole('button', { name: 'Clear the filter' }).click()
  await field.fill('/tmp/logs')
  await page.getByText('1 of 130 open fit').waitFor()
  await page.getByRole('link', { name: /wipe/ }).waitFor()
  await field.fill('')

  // The list is read to its end; then something more urgent comes.
  await page.getByText('130 open').waitFor()
  await page.getByRole('list', { name: 'Waiting' }).hover()
  const topOf = (place: number) =>
    page.evaluate<number | null>(
      `document.querySelector('[aria-posinset="${place}"]')?.getBoundingClientRect().top ?? null`,
    )
  let at: number | null = null
  await expect
    .poll(
      async () => {
        await page.mouse.wheel(0, 4_000)
        const before = at
        at = await topOf(130)
        return at !== null && at === before
      },
      { timeout: 60_000 },
    )
    .toBe(true)
  await house.say('pay')
  await page.getByText('1 critical').waitFor()
  await expect.poll(() => topOf(131), LATE).toBe(at)

  // What is less urgent comes below.
  await page.getByRole('list', { name: 'Waiting' }).evaluate((list) => Object.assign(list, { scrollTop: 3_000 }).id)
  await expect.poll(() => topOf(45), LATE).not.toBe(null)
  const middle = await topOf(45)
  await house.say('note')
  await page.getByText('132 open').waitFor()
  expect(await topOf(45)).toBe(middle)
  expect(complaints).toEqual([])
})

/** An agent that asks about commands. */
function agentIn(house: ConsoleHouse) {
  const shop = house.folder('shop', { 'package.json': '{"scripts":{"test":"true"}}' })
  const ask = (command: string) =>
    house.agent('window-1', shop)('approve_tool', { tool_name: 'Bash', input: { command }, tool_use_id: command })
  return { shop, ask }
}

inBrowser(
  'a yes that is remembered covers what was chosen, and is listed until somebody revokes it',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const { shop, ask } = agentIn(house)
    const first = ask('npm test -- one')
    await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(1)
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
    await page.getByRole('link', { name: /npm test/ }).click()
    await page.getByRole('button', { name: /^Remember/, disabled: false }).waitFor()
    await page.keyboard.press('m')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Also allow').selectOption({ label: 'Commands that begin with npm test' })
    await dialog.getByLabel('Where and how long').selectOption({ label: 'in this workspace, until revoked' })
    await dialog
      .getByText('Also allow: Commands that begin with npm test — in this workspace, until revoked.')
      .waitFor()
    await page.keyboard.press('Control+Enter')
    expect(await first).toMatchObject({ behavior: 'allow' })
    expect(await ask('npm test -- two')).toMatchObject({ behavior: 'allow' })

    await page.goto(`${house.url}/console/settings/grants`)
    await page.getByText('may: Commands that begin with npm test').waitFor()
    await page.getByText(shop).waitFor()
    await page.getByRole('button', { name: /^Revoke: claude, Commands that begin/ }).click()
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('Nothing is decided in advance.').waitFor()
    void ask('npm test -- three').catch(() => {})
    await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(1)
    expect(complaints).toEqual([])
  },
)

inBrowser(
  'one of a group that somebody else has decided meanwhile is named, and the others are decided',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const { ask } = agentIn(house)
    const [one, two] = [ask('npm test -- one'), ask('npm test -- two')]
    await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(2)
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
    await page.getByRole('link', { name: /2 alike/ }).click()
    await page.getByRole('button', { name: /^Approve all 2/, disabled: false }).waitFor()
    await page.route(/\/approvals$/, async (route) => {
      const mine = (await house.client.approvals()).find(({ title }) => title.includes('two'))
      if (mine !== undefined) await house.client.reject(mine)
      await route.continue()
    })
    await page.keyboard.press('a')
    await page.getByRole('alert').getByText('npm test -- two').waitFor()
    expect([await one, await two]).toMatchObject([{ behavior: 'allow' }, { behavior: 'deny' }])
    expect(complaints).toEqual([])
  },
)

/** Goes to the end of what is shown and back, so that the end is on the screen when one look is taken, and gone at the next. */
const GLIMPSE = `new Promise((done) => {
  const rows = document.querySelector('[aria-label="What changes"] [data-index]')
  let box = rows
  while (box !== null && box.scrollHeight <= box.clientHeight + 1) box = box.parentElement
  box.scrollTop = box.scrollHeight
  // The look comes in the frame after the scrolling, before this.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const last = [...document.querySelectorAll('[aria-label="What changes"] [data-index]')].at(-1).getBoundingClientRect()
    const wasThere = last.bottom <= box.getBoundingClientRect().bottom + 1
    box.scrollTop = 0
    setTimeout(() => done(wasThere), 1_000)
  }))
})`

inBrowser(
  'the end of a change that was on the screen for one look keeps the lock, and a second look opens it',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const lines = Array.from({ length: 200 }, (_, i) => `line ${i + 1}`)
    const shop = house.folder('shop', { 'notes.txt': `${lines.join('\n')}\n` })
    const asked = house.agent('window-1', shop)('ask_approval', {
      title: 'Number the lines',
      diff: `${lines.map((line) => `${line}.`).join('\n')}\n`,
      file_path: 'notes.txt',
      risk_level: 'high',
    })
    await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
    await page
      .getByRole('link', { name: /notes\.txt/ })
      .first()
      .click()
    await page.getByText('Scroll to the end to approve').first().waitFor()
    const approve = page.getByRole('button', { name: /^Approve/ })

    await page.getByLabel('What changes').waitFor()
    // The first time, rows are measured that were never shown, so the end may move away before it is reached.
    for (let i = 0; i < 5; i += 1) await page.evaluate(GLIMPSE)
    expect(await page.evaluate(GLIMPSE)).toBe(true)
    expect(await approve.isEnabled()).toBe(false)

    await page.getByLabel('What changes').hover()
    await expect
      .poll(
        async () => {
          await page.mouse.wheel(0, 2_000)
          return approve.isEnabled()
        },
        { timeout: 60_000 },
      )
      .toBe(true)
    await approve.click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/, disabled: false })
      .click()
    expect(await asked).toMatchObject({ status: 'approved' })
    expect(complaints).toEqual([])
  },
)

inBrowser(
  'an opened card is scrolled with the keys at once, and no button names a letter that would be typed',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i + 1}`)
    const shop = house.folder('shop', { 'notes.txt': `${lines.join('\n')}\n` })
    const asked = house.agent('window-1', shop)('ask_approval', {
      title: 'Number the lines',
      diff: `${lines.map((line) => `${line}.`).join('\n')}\n`,
      file_path: 'notes.txt',
      risk_level: 'high',
    })
    await expect.poll(async () => (await house.client.approvals({ status: 'pending' })).length, LATE).toBe(1)
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
    const { keyboard } = page
    await page
      .getByRole('link', { name: /notes\.txt/ })
      .first()
      .waitFor()
    await keyboard.press('j')
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: /notes\.txt/ }).waitFor()
    await expect.poll(async () => (await lookAt(page)).focus, LATE).toMatch(/^h2 /)
    // Before that there is nothing to scroll.
    await page
      .getByText(/line 20$/)
      .first()
      .waitFor()
    const place = () => page.locator('article > div').evaluate(({ scrollTop }) => Math.round(scrollTop))
    const moves = async (key: string, holds: (now: number, before: number) => boolean) => {
      const before = await place()
      await keyboard.press(key)
      await expect.poll(async () => holds(await place(), before), LATE).toBe(true)
    }
    await moves('ArrowDown', (now, before) => now > before)
    await moves('PageDown', (now, before) => now > before + 100)
    await moves('Space', (now, before) => now > before + 100)
    await moves('PageUp', (now, before) => now < before)
    await moves('Home', (now) => now === 0)
    await moves('End', (now) => now > 1_000)
    const approve = page.getByRole('button', { name: /^Approve/ })
    await expect.poll(() => approve.isEnabled(), LATE).toBe(true)

    expect(await approve.locator('kbd').isVisible()).toBe(true)
    await keyboard.press('/')
    await expect.poll(() => approve.locator('kbd').isVisible(), LATE).toBe(false)
    await keyboard.press('Escape')
    await expect.poll(() => approve.locator('kbd').isVisible(), LATE).toBe(true)
    await keyboard.press('r')
    await page.getByRole('dialog').waitFor()
    await keyboard.press('Control+Enter')
    await asked
    expect(complaints).toEqual([])
  },
)

inBrowser(
  'what somebody has begun to answer survives Escape, leaving and a reload, until it is sent',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    await house.say('wipe')
    const asked = house.agent('window-1', house.folder('shop', { 'a.txt': '' }))('forward_prompt', {
      prompt_text: 'Which one?',
    })
    await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(2)
    await using browser = await connectBrowser()
    const { page, complaints, go } = await signIn(browser, house, { at: '/inbox' })
    const { keyboard } = page
    const dialog = page.getByRole('dialog')
    const kept = page.getByText('Your draft is kept in this tab.')
    const inStorage = (): Promise<string> => page.evaluate('JSON.stringify({ ...sessionStorage, ...localStorage })')
    const open = async (name: RegExp) => {
      await page.getByRole('link', { name }).first().click()
      await page.getByRole('button', { name: /^(Reject|Stop)/, disabled: false }).waitFor()
    }

    // A reason and an edit of the same item. The secret is masked in the page, and nobody has typed it.
    await open(/wipe/i)
    await keyboard.press('r')
    await dialog.getByLabel('Reason').fill('Not that folder.')
    await keyboard.press('Escape')
    await kept.waitFor()
    await keyboard.press('e')
    await dialog.getByLabel('path').fill('/tmp/old-logs')
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await inStorage()).toContain('/tmp/old-logs')
    expect(await inStorage()).not.toMatch(/a-secret-of-somebody|masked/)
    await go('/health')
    await go('/inbox')
    await page.reload()
    await open(/wipe/i)
    await kept.waitFor()
    await keyboard.press('r')
    await expect.poll(() => dialog.getByLabel('Reason').inputValue(), LATE).toBe('Not that folder.')
    await keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await keyboard.press('e')
    await expect.poll(() => dialog.getByLabel('path').inputValue(), LATE).toBe('/tmp/old-logs')
    await keyboard.press('Escape')
    await page.getByRole('button', { name: 'Throw it away' }).click()
    await kept.waitFor({ state: 'detached' })
    expect(await inStorage()).not.toContain('quarterdeck.draft.item')

    // A half-filled answer, which somebody else makes superfluous.
    await keyboard.press('Escape')
    await open(/Which one/)
    const field = page.locator('article').getByRole('textbox')
    await field.fill('Perhaps')
    await page.reload()
    await expect.poll(() => field.inputValue(), LATE).toBe('Perhaps')
    const prompt = (await house.client.inbox({ kind: 'prompt' })).items[0]
    const action = prompt?.view.actions.find(({ main }) => main)
    if (action === undefined) throw new Error('nothing waits')
    await house.client.answer(action, { text: 'The other one.' })
    await asked
    await page.getByText('Continued').first().waitFor()
    await expect.poll(inStorage, LATE).not.toContain('quarterdeck.draft.item')
    expect(complaints).toEqual([])
  },
)

inBrowser(
  'operators see who else is looking at an item, on its row and on its card, until they leave',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    for (const words of ['wipe', 'pay']) await house.say(words)
    await expect.poll(async () => (await house.client.inbox()).total, LATE).toBe(2)
    const { token } = await house.client.createToken({ role: 'operator', name: 'laptop', user: 'mara' })
    const mara = createClient({ url: house.url, token })
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/inbox' })
    const row = page.getByRole('listitem').filter({ hasText: 'wipe' })
    const looking = (within: Locator) => within.getByText('mara is looking at this')
    await row.waitFor()
    const item = (await mara.inbox({ q: 'wipe' })).items[0]
    await mara.take(item?.id ?? '')
    await looking(row).waitFor()

    // A tab that comes later knows it too, and Mara sees who opened it here.
    const other = await page.context().newPage()
    await other.goto(`${house.url}/console/inbox/${item?.id}`)
    const card = other.getByRole('article')
    await looking(card).waitFor()
    expect(await barriersOf(other)).toEqual([])
    const seenByMara = async () => (await mara.inbox({ q: 'wipe' })).items[0]?.taken_by?.name
    await expect.poll(seenByMara, LATE).toBe('operator')
    await other.close()

    await page.getByRole('link', { name: /pay/i }).first().click()
    await page.getByRole('button', { name: /^Reject/, disabled: false }).waitFor()
    await expect.poll(async () => (await mara.inbox({ q: 'pay' })).items[0]?.taken_by?.name, LATE).toBe('operator')
    await page.keyboard.press('Escape')
    await expect.poll(async () => (await mara.inbox({ q: 'pay' })).items[0]?.taken_by, LATE).toBe(null)
    await mara.leave(item?.id ?? '')
    await looking(row).waitFor({ state: 'detached' })

    // It blocks nothing.
    await mara.take(item?.id ?? '')
    await page.getByRole('link', { name: /wipe/i }).first().click()
    await page.getByRole('button', { name: /^Approve/, disabled: false }).click()
    await expect.poll(() => house.ran.length, LATE).toBe(1)
    expect(complaints).toEqual([])
  },
)
