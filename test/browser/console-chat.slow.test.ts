// The chat of the console as a person uses it: answers that grow, a reload in the middle, a question answered in place.

import { expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn } from '../console/support/console-page.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 180_000 }
const LATE = { timeout: 60_000 }

inBrowser('an answer grows while it is written, and a reload in the middle misses nothing', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house)
  // The start page is a chat with the agent.
  await page.waitForURL('**/console/chat')
  const field = page.getByRole('textbox', { name: /Message helper/ })
  await field.fill('hello')
  await field.press('Enter')
  await page.waitForURL('**/console/chat/*')
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.getByRole('heading', { name: 'Tides' }).waitFor()
  await talk.getByRole('cell', { name: 'Emden' }).waitFor()
  expect(await talk.locator('strong', { hasText: 'before' }).count()).toBe(1)

  const next = page.getByRole('textbox', { name: /Message helper|next message/ })
  await next.fill('hold')
  await next.press('Enter')
  await talk.getByText('Before.').waitFor()
  await page.reload()
  await talk.getByText('Before.').waitFor()
  await page.getByRole('button', { name: /Stop run/ }).waitFor()
  house.release()
  await talk.getByText('After.').waitFor()

  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  expect(await talk.getByText('Before.').count()).toBe(1)

  // Who stops it goes on writing: the button that had the focus is gone.
  await next.fill('hold')
  await next.press('Enter')
  await page.getByRole('button', { name: /Stop run/ }).click()
  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  expect((await lookAt(page)).focus).toMatch(/^textarea/)
  expect(complaints).toEqual([])
})

inBrowser('a run that asks is answered in the chat, and can be stopped with a key', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat', viewport: PHONE, hasTouch: true })
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('note')
  await page.getByRole('button', { name: 'Send' }).tap()
  const dock = page.getByRole('region', { name: 'Waits for an answer' })
  await dock.getByText('The tide turns at four.').first().waitFor()
  const { tooWide, primaryButtons } = await lookAt(page)
  expect([tooWide, primaryButtons.length]).toEqual([0, 1])
  await dock.getByRole('button', { name: /^Approve/, disabled: false }).tap()
  await page.getByText('Noted.').waitFor()
  expect(house.ran).toEqual([{ text: 'The tide turns at four.', copies: 1 }])
  // A card that comes into a conversation leaves the focus to whoever scrolls.
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.focus()
  await talk.getByRole('button', { name: /Approved/ }).dispatchEvent('click')
  await talk.getByRole('article').waitFor()
  expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Conversation')

  await field.fill('hold')
  await page.getByRole('button', { name: 'Send' }).tap()
  await page.getByText('Before.').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('.')
  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  const { sessions } = await house.client.sessions.list({ limit: 1 })
  const { runs } = await house.client.sessions.runs(sessions[0]?.session_id ?? '')
  expect(runs.map(({ status }) => status).toSorted()).toEqual(['cancelled', 'completed', 'completed'])
  expect(complaints).toEqual([])
})

inBrowser('a message that was written without a server goes out when it is back, once', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat' })
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('hello')
  await field.press('Enter')
  await page.getByRole('heading', { name: 'Tides' }).waitFor()

  await house.stop()
  await page.getByText('Not connected.', { exact: true }).waitFor()
  await field.fill('Are you there?')
  await field.press('Enter')
  await house.start()
  await page.getByText('Not connected.', { exact: true }).waitFor({ state: 'detached' })

  await page.getByText('Aye.').waitFor(LATE)
  expect(await page.getByText('Are you there?').count()).toBe(1)
  expect(complaints).toEqual([])
})

inBrowser('a failed run is tried again, its message edited, and each version can be read', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const id = await house.say('hello')
  const { page, complaints } = await signIn(browser, house, { at: `/chat/${id}` })
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.getByRole('heading', { name: 'Tides' }).waitFor()
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  await field.fill('fail')
  await field.press('Enter')
  await talk.getByText('The model failed.').waitFor()
  expect(await talk.getByText('model_failed').isVisible()).toBe(false)
  await talk.getByText('What exactly').click()
  await talk.getByText('model_failed').waitFor()

  // A press that was meant as one is one.
  await talk.getByRole('button', { name: 'Try again' }).evaluate((button: { click(): void }) => {
    button.click()
    button.click()
  })
  const ofAnswer = talk.getByRole('group', { name: 'Versions of this answer' })
  await ofAnswer.getByText('2 of 2').waitFor()

  await field.fill('My own next words')
  await talk.getByRole('button', { name: 'Edit message' }).last().click()
  await page.keyboard.type('ed')
  expect(await field.inputValue()).toBe('failed')
  await field.fill('hold')
  await field.press('Enter')
  await talk.getByText('Before.').waitFor()
  expect(await field.inputValue()).toBe('My own next words')
  const ofMessage = talk.getByRole('group', { name: 'Versions of this message' })
  await ofMessage.getByText('2 of 2').waitFor()
  expect(await talk.getByText('The model failed.').count()).toBe(0)

  // The run goes on while somebody reads what was before it, and a reload keeps the place.
  await ofMessage.getByRole('button', { name: 'earlier version of this message' }).click()
  await talk.getByText('The model failed.').waitFor()
  await page.reload()
  await page.getByText('You are reading an earlier version.').waitFor()
  await ofAnswer.getByText('2 of 2').waitFor()
  await ofAnswer.getByRole('button', { name: 'earlier version of this answer' }).click()
  await ofAnswer.getByText('1 of 2').waitFor()
  expect(await talk.getByText('Before.').count()).toBe(0)
  expect(await talk.getByRole('button', { name: 'Try again' }).count()).toBe(0)
  house.release()
  await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
  expect(await talk.getByText('After.').count()).toBe(0)
  await page.getByRole('button', { name: 'Show the newest' }).click()
  await talk.getByText('After.').waitFor()

  // A link to a message in an old branch opens that branch.
  const { events } = await house.client.sessions.log(id)
  const starts = events.flatMap(({ event }) => (event.type === 'RUN_STARTED' ? [event.input] : [])) as {
    messages: { id: string }[]
  }[]
  await page.goto(`${house.url}/console/chat/${id}?message=${starts[1]?.messages[0]?.id}`)
  await ofMessage.getByText('1 of 2').waitFor()
  await page.locator('[data-wanted]').getByText('fail').waitFor()
  // In the list of sessions it is the same conversation.
  await page.goto(`${house.url}/console/sessions/${id}`)
  await ofMessage.getByText('2 of 2').waitFor()
  await talk.getByRole('button', { name: /Answer again/ }).click()
  await ofAnswer.getByText('2 of 2').waitFor()
  house.release()
  expect(complaints).toEqual([])
})

inBrowser(
  'an answer of 300,000 characters is whole, formatted from its first to its last word, and light',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/chat' })
    const field = page.getByRole('textbox', { name: /Message helper|next message/ })
    await field.fill('epic')
    await field.press('Enter')
    const talk = page.getByRole('list', { name: 'Conversation' })
    // The end is in sight while it is written, and afterwards.
    await talk.getByRole('heading', { name: 'Verse 1199' }).waitFor()
    await talk.locator('strong', { hasText: 'verse 1199' }).waitFor()
    await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })
    const nodes = () => page.evaluate(`document.querySelectorAll('*').length`) as Promise<number>
    expect(await nodes()).toBeLessThan(1_000)

    await page.reload()
    await talk.getByRole('heading', { name: 'Verse 1199' }).waitFor()
    // A reader scrolls from the end to the beginning and meets every verse.
    const met = new Set<string>()
    for (let turns = 0; !met.has('Verse 0') && turns < 400; turns += 1) {
      for (const name of await talk.locator('h3').allTextContents()) met.add(name)
      await talk.evaluate((box) => box.scrollBy(0, -box.clientHeight * 4))
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    }
    expect(met.size).toBe(1_200)
    expect(await nodes()).toBeLessThan(1_000)
    expect(complaints).toEqual([])
  },
)

inBrowser('a message waits for its files and goes by itself, and pictures are shown small', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: '/chat' })
  const field = page.getByRole('textbox', { name: /Message helper|next message/ })
  const files = page.getByRole('list', { name: 'Files of this message' })
  const picker = page.locator('input[type=file]')
  const cat = { name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from(DOT, 'base64') }

  // The first upload is refused: the message stays where it was written.
  let held = Promise.withResolvers<'continue' | 'abort'>()
  await page.route('**/files', async (route) => ((await held.promise) === 'abort' ? route.abort() : route.continue()))
  await picker.setInputFiles(cat)
  await files.locator('img').waitFor()
  await field.fill('hello')
  await field.press('Enter')
  await page.getByText('It is sent as soon as the files are up.').waitFor()
  held.resolve('abort')
  await page.getByText('Not sent: a file could not be uploaded.').first().waitFor()
  expect([await field.inputValue(), new URL(page.url()).pathname]).toEqual(['hello', '/console/chat'])

  held = Promise.withResolvers()
  await files.getByRole('button', { name: 'Remove cat.png' }).click()
  await picker.setInputFiles(cat)
  await field.press('Enter')
  await page.getByText('It is sent as soon as the files are up.').waitFor()
  held.resolve('continue')
  await page.waitForURL('**/console/chat/*')
  const talk = page.getByRole('list', { name: 'Conversation' })
  const picture = talk.getByRole('button', { name: 'Large picture cat.png' }).locator('img')
  await picture.waitFor()
  expect(await picture.evaluate((image) => (image as { naturalWidth?: number }).naturalWidth)).toBe(1)
  await picture.click()
  await talk.getByRole('button', { name: 'Small picture cat.png' }).waitFor()

  // After a time without the server everything is read again, but not what cannot have changed.
  await talk.getByRole('button', { name: 'Good answer', exact: true }).waitFor()
  await house.stop()
  await page.getByText('Not connected.').waitFor()
  const asked: string[] = []
  page.on('request', (request) => asked.push(new URL(request.url()).pathname))
  await house.start()
  await expect.poll(() => asked.some((path) => path.endsWith('/feedback')), { timeout: 30_000 }).toBe(true)
  expect(asked.filter((path) => path.includes('/files/'))).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser('formulas are drawn under the policy of the page, and hostile ones stay text', BUSY, async () => {
  await using house = await openConsoleHouse()
  await using browser = await connectBrowser()
  const { page, complaints } = await signIn(browser, house, { at: `/chat/${await house.say('formula')}` })
  const talk = page.getByRole('list', { name: 'Conversation' })
  await talk.locator('math mfrac').waitFor()
  expect(await talk.locator('math').count()).toBe(2)
  // The browser knows the elements: a fraction is higher than a line.
  const height = (await talk.locator('math mfrac').boundingBox())?.height ?? 0
  expect(height).toBeGreaterThan((await talk.locator('math mi').first().boundingBox())?.height ?? 0)
  await talk.getByText('a berth costs $5 to $10').waitFor()
  expect(await talk.locator('code').allTextContents()).toEqual([
    '\\[\\href{javascript:alert(1)}{press}\\]',
    '\\(\\includegraphics{https://example.com/x.png}\\)',
  ])
  expect(await barriersOf(page)).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser(
  'people say what they think of an answer, copy a link to it, and find a failed chat in the list',
  BUSY,
  async () => {
    await using house = await openConsoleHouse()
    await using browser = await connectBrowser()
    const id = await house.say('hello')
    const failed = await house.say('fail')
    const { page, complaints } = await signIn(browser, house, {
      at: `/chat/${id}`,
      viewport: PHONE,
      hasTouch: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    })
    const talk = page.getByRole('list', { name: 'Conversation' })
    await talk.getByRole('button', { name: 'Not a good answer' }).tap()
    await talk.getByRole('button', { name: 'Not a good answer', pressed: true }).waitFor()
    await talk.getByRole('button', { name: 'Add a note' }).tap()
    // The field has the focus, so that no letter is a key of the page.
    await talk.getByRole('textbox', { name: 'Your note on this answer' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.insertText('The table is from \u202eyesterday.')
    await talk.getByRole('button', { name: 'Save the note' }).tap()
    await talk.getByText('<U+202E>').waitFor()
    await talk.getByRole('button', { name: 'Change the note' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.insertText(' Or older.')
    await talk.getByText('yesterday. Or older.').waitFor()
    await talk.getByRole('button', { name: 'Cancel' }).tap()
    const [said] = await house.client.sessions.feedback(id)
    expect(said).toMatchObject({ value: 'down', note: 'The table is from \u202eyesterday.', own: true })
    await talk.getByRole('button', { name: 'Not a good answer', pressed: true }).tap()
    await talk.getByRole('button', { name: 'Not a good answer', pressed: false }).waitFor()
    expect(await house.client.sessions.feedback(id)).toEqual([])

    await talk.getByRole('button', { name: 'More about this answer' }).tap()
    await page.getByRole('menuitem', { name: 'Copy link' }).tap()
    const link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(link).toBe(`${house.url}/console/chat/${id}?message=${said?.message_id}`)
    await page.goto(link)
    await page.locator('[data-wanted]').getByRole('heading', { name: 'Tides' }).waitFor()

    // On a phone the list of chats is one press away.
    await page.getByRole('button', { name: 'Chats' }).tap()
    const list = page.getByRole('dialog', { name: 'Recent chats' })
    await list.getByRole('link', { name: /fail.*Failed/ }).tap()
    await page.waitForURL(`**/console/chat/${failed}`)
    await list.waitFor({ state: 'detached' })
    expect(await lookAt(page)).toMatchObject({ tooWide: 0, smallTargets: [] })
    expect(complaints).toEqual([])
  },
)

/** One pixel. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
