// The page for users in a real browser: what one person does there, at the widths of a desk and a phone and in both themes; who cannot
// get in; what others wrote; and the page in a frame of somebody else.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, inject, test } from 'vitest'
import { connectBrowser } from '../clients/chat-page.ts'
import { type ConsoleHouse, type ConsoleHouseOptions, openConsoleHouse } from '../console/support/console-house.ts'
import { barriersOf, lookAt, PHONE, signIn, watch } from '../console/support/console-page.ts'
import { HIDDEN, MARKDOWN, SCRIPT, SHORT } from '../console/support/hostile.ts'

const inBrowser = test.skipIf(inject('browser') === null)
const BUSY = { timeout: 240_000 }
const LATE = { timeout: 60_000 }
const DESK = { width: 1440, height: 900 }

/** A folder for pictures, for people who want to look. */
const { TALK_PICTURES } = process.env
const picture = async (page: Page, name: string) =>
  TALK_PICTURES === undefined ? undefined : page.screenshot({ path: join(TALK_PICTURES, `${name}.png`) })

/** A server where everybody needs a token, and people decide about their own sessions. */
const openHouse = ({ settings, ...options }: ConsoleHouseOptions = {}) =>
  openConsoleHouse({
    settings: { auth: { mode: 'token' }, ...settings },
    agentMore: 'approval: { by: owner }\n',
    ...options,
  })

const tokenOf = (house: ConsoleHouse, user = 'ada') => house.client.createToken({ role: 'user', user })

async function openTalk(browser: Browser, house: ConsoleHouse, path = '/', options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ viewport: DESK, ...options })
  const opened = watch(await context.newPage(), house.url)
  await opened.page.goto(`${house.url}/talk${path}`)
  return opened
}

async function signInAs(page: Page, token: string): Promise<void> {
  await page.getByLabel('Your token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

const fieldOf = (page: Pick<Page, 'getByRole'>) => page.getByRole('textbox', { name: /Message|next message/ })
const talkOf = (page: Pick<Page, 'getByRole'>) => page.getByRole('list', { name: 'Conversation' })

async function say(page: Pick<Page, 'getByRole'>, text: string): Promise<void> {
  const field = fieldOf(page)
  await field.fill(text)
  await field.press('Enter')
}

describe('somebody with a token of their own', () => {
  const looks = [
    ['1440 light', { viewport: DESK, colorScheme: 'light' }],
    ['1440 dark', { viewport: DESK, colorScheme: 'dark' }],
    ['390 light', { viewport: PHONE, hasTouch: true, colorScheme: 'light' }],
    ['390 dark', { viewport: PHONE, hasTouch: true, colorScheme: 'dark' }],
  ] as const
  for (const [name, options] of looks) {
    inBrowser(`talks, decides, sends a file and comes back: ${name}`, BUSY, async () => {
      await using house = await openHouse()
      await using browser = await connectBrowser()
      const { page, complaints } = await openTalk(browser, house, '/', { ...options, reducedMotion: 'reduce' })
      /** What is wrong with the page as it is now. */
      const troubles: unknown[] = []
      const look = async (what: string) => {
        await picture(page, `${what}-${name.replace(' ', '-')}`)
        const { tooWide, smallTargets, headings } = await lookAt(page)
        const barriers = await barriersOf(page)
        if (tooWide > 0 || headings.length !== 1 || smallTargets.length + barriers.length > 0)
          troubles.push([what, tooWide, headings, smallTargets, barriers])
      }
      await page.getByLabel('Your token').waitFor()
      await look('sign-in')
      await signInAs(page, (await tokenOf(house)).token)
      await page.waitForURL('**/talk/chat')
      await fieldOf(page).waitFor()
      await look('new')

      await say(page, 'hello')
      await page.waitForURL('**/talk/chat/*')
      const first = page.url()
      const talk = talkOf(page)
      await talk.getByRole('cell', { name: 'Emden' }).waitFor()
      await say(page, 'hold')
      // The answer is on the page while it is written.
      await talk.getByText('Before.').waitFor()
      await page.getByRole('button', { name: /Stop run/ }).waitFor()
      house.release()
      await talk.getByText('After.').waitFor()
      await page.getByRole('button', { name: /Stop run/ }).waitFor({ state: 'detached' })

      await page.locator('input[type=file]').setInputFiles({
        name: 'log.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('04:12 high water\n'),
      })
      // Its size stands there once it has been sent up; before that, Enter does not send the message.
      await page.getByRole('list', { name: 'Files of this message' }).getByText('17 B').waitFor()
      await say(page, 'What does it say?')
      await talk.getByText('Aye.').waitFor()
      await talk.getByRole('button', { name: 'Save log.txt' }).waitFor()
      await look('chat')

      await say(page, 'note')
      const dock = page.getByRole('region', { name: 'Waits for an answer' })
      await dock.getByText('The tide turns at four.').first().waitFor()
      const approve = dock.getByRole('button', { name: /^Approve/, disabled: false })
      await approve.waitFor()
      await look('approval')
      await approve.click()
      await talk.getByText('Noted.').waitFor()
      expect(house.ran).toEqual([{ text: 'The tide turns at four.', copies: 1 }])

      await page.reload()
      await talk.getByText('Noted.').waitFor()
      await page.getByRole('link', { name: 'New chat' }).click()
      await say(page, 'Are you there?')
      await talk.getByText('Aye.').waitFor()
      const toChats = page.getByRole('link', { name: 'Chats', exact: true })
      if (await toChats.isVisible()) {
        await toChats.click()
        await page.getByRole('heading', { name: 'Chats' }).waitFor()
        await look('chats')
      }
      await page.getByRole('link', { name: /hello/ }).click()
      await talk.getByText('Noted.').waitFor()
      expect(page.url()).toBe(first)

      // On a phone the settings are on the page with the chats.
      if (await toChats.isVisible()) await toChats.click()
      await page.getByRole('link', { name: 'Settings' }).click()
      await page.getByText('You are signed in as ada').waitFor()
      await look('settings')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByText('You are signed out').waitFor()
      expect(await page.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage)]')).toEqual([[], []])
      expect(troubles).toEqual([])
      expect(complaints).toEqual([])
    })
  }

  inBrowser('sees nothing of others, and decides only what is theirs', BUSY, async () => {
    await using house = await openHouse()
    const operators = await house.say('hello')
    const ben = await tokenOf(house, 'ben')
    const bens = crypto.randomUUID()
    await fetch(`${house.url}/sessions/${bens}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ben.token}` },
      body: JSON.stringify({ message: 'A secret of Ben' }),
    })
    await using browser = await connectBrowser()
    const { page, complaints } = await openTalk(browser, house, `/chat/${operators}`)
    const refused: string[] = []
    page.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()))
    await signInAs(page, (await tokenOf(house)).token)
    await page.getByRole('heading', { name: 'There is no such chat' }).waitFor()
    await page.goto(`${house.url}/talk/chat/${bens}`)
    await page.getByRole('heading', { name: 'There is no such chat' }).waitFor()
    await page.goto(`${house.url}/talk/sessions`)
    await page.getByRole('heading', { name: 'No chats yet' }).waitFor()
    expect(await page.getByText('secret of Ben').count()).toBe(0)

    await page.goto(`${house.url}/talk/`)
    await say(page, 'pay')
    const dock = page.getByRole('region', { name: 'Waits for an answer' })
    await dock.getByText('An operator decides about this.').waitFor()
    expect(await dock.getByRole('button', { name: /Approve|Reject/ }).count()).toBe(0)
    const [approval] = await house.client.approvals()
    if (approval !== undefined) await house.client.approve(approval)
    await talkOf(page).getByText('Paid.').waitFor()
    // It asks for nothing that it may not have.
    expect(refused).toEqual([])
    expect(complaints).toEqual([])
  })

  inBrowser(
    'is told when the token is wrong, has ended or was revoked, and signs in again where they were',
    BUSY,
    async () => {
      await using house = await openHouse()
      const { id, token } = await tokenOf(house)
      await using browser = await connectBrowser()
      const { page, complaints } = await openTalk(browser, house)
      await signInAs(page, 'not-a-token-of-anybody')
      await page.getByRole('heading', { name: 'The server does not know this token' }).waitFor()
      await signInAs(page, token)
      await say(page, 'hello')
      await talkOf(page).getByRole('heading', { name: 'Tides' }).waitFor()

      await house.client.revokeToken(id)
      await page.getByText('Your token has ended, or somebody has revoked it.').waitFor(LATE)
      expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual([])
      await signInAs(page, (await tokenOf(house)).token)
      await talkOf(page).getByRole('heading', { name: 'Tides' }).waitFor()
      expect(complaints).toEqual([])
    },
  )

  inBrowser('reads hostile text as text', BUSY, async () => {
    await using house = await openHouse()
    await using browser = await connectBrowser()
    const { page, complaints } = await openTalk(browser, house)
    await signInAs(page, (await tokenOf(house)).token)
    await fieldOf(page).waitFor()
    await page.locator('input[type=file]').setInputFiles({
      name: `${SHORT.slice(0, 60).replaceAll('/', '')}.txt`,
      mimeType: 'text/plain',
      buffer: Buffer.from('one'),
    })
    await page.getByRole('list', { name: 'Files of this message' }).getByText(/\d B/).waitFor()
    await say(page, `${SCRIPT} hostile ${MARKDOWN} ${HIDDEN}`)
    await page.getByRole('region', { name: 'Waits for an answer' }).getByText('An operator decides').waitFor()
    await talkOf(page).getByText('Picture: picture').first().waitFor()

    expect(
      await page.evaluate(`[
        window.ran ?? 'nothing',
        document.querySelectorAll('iframe, object, embed, script:not([src]), body style, img:not([src^="blob:"])').length,
        document.querySelectorAll('[onerror], [onload], a[href^="javascript:"], a[href^="data:"]').length,
        document.documentElement.scrollWidth > innerWidth,
      ]`),
    ).toEqual(['nothing', 0, 0, false])
    expect(complaints).toEqual([])
  })
})

describe('others get in too', () => {
  inBrowser('an operator whom the console has signed in, or who has the token', BUSY, async () => {
    await using house = await openHouse()
    await using browser = await connectBrowser()
    const { page, complaints } = await signIn(browser, house, { at: '/chat' })
    await page.goto(`${house.url}/talk/`)
    await say(page, 'pay')
    const dock = page.getByRole('region', { name: 'Waits for an answer' })
    await dock.getByRole('button', { name: /^Approve/, disabled: false }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Approve/, disabled: false })
      .click()
    await talkOf(page).getByText('Paid.').waitFor()

    const other = await openTalk(browser, house)
    await signInAs(other.page, house.operator)
    await other.page.getByRole('link', { name: /pay/ }).click()
    await talkOf(other.page).getByText('Paid.').waitFor()
    // The operator's own token is not kept: the browser has become a device.
    expect((await house.client.devices.list()).length).toBe(2)
    expect([...complaints, ...other.complaints]).toEqual([])
  })

  inBrowser('somebody whom a proxy has signed in', BUSY, async () => {
    await using house = await openHouse({ settings: { proxy_auth: { trusted: ['127.0.0.1', '::1'], name: 'corp' } } })
    await using browser = await connectBrowser()
    const { page, complaints } = await openTalk(browser, house, '/', {
      extraHTTPHeaders: { 'X-Forwarded-User': 'ada', 'X-Forwarded-For': '203.0.113.9' },
    })
    await say(page, 'note')
    await page.getByRole('region', { name: 'Waits for an answer' }).getByText('The tide turns').first().waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('signed in as corp:ada, by the proxy').waitFor()
    expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0)
    expect(complaints).toEqual([])
  })

  inBrowser('anybody on a machine where talking needs no token, and they decide nothing', BUSY, async () => {
    await using house = await openHouse({ settings: { auth: { mode: 'auto' } } })
    await using browser = await connectBrowser()
    const { page, complaints } = await openTalk(browser, house)
    await say(page, 'note')
    const dock = page.getByRole('region', { name: 'Waits for an answer' })
    await dock.getByText('To decide, sign in with a token: Settings.').waitFor()
    expect(await dock.getByRole('button', { name: /Approve/ }).count()).toBe(0)
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Sign in with a token' }).click()
    await page.getByLabel('Your token').waitFor()
    expect(complaints).toEqual([])
  })
})

/** What docs/do/let-users-talk.md tells people to write. */
function block(mark: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../docs/do/let-users-talk.md'), 'utf8')
  return new RegExp(`^\`\`\`\\w+ ${mark}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? expect.fail(`no ${mark}`)
}

/** A web app of somebody else, at another site, as the docs make one. `house` is there when the first page is opened. */
async function openEmbedder(house: () => ConsoleHouse, talkToken: () => Promise<string>) {
  const server = createServer((request, response) => {
    if (request.url === '/talk-token') return void talkToken().then((token) => response.end(token))
    const frame = block('talk-frame')
      .replaceAll('https://agents.example.com', house().url)
      .replace("'quarterdeck:token', token }", "'quarterdeck:token', token, theme: 'dark' }")
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>Shop</title><h1>Shop</h1>${frame}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    // Another site than localhost, so that cookies and storage are those of a third party.
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The program of the docs. */
function tokenMaker(house: ConsoleHouse): (user: string) => Promise<string> {
  const program = block('talk-token')
    .replace(/^import .*$/m, '')
    .replace('export async function', 'return async function')
  const createClient = () => house.client
  return new Function('createClient', 'process', program)(createClient, { env: {} })
}

describe('in a frame of another page', () => {
  inBrowser('the page around it signs people in, again when a token has ended, and nothing is kept', BUSY, async () => {
    const made: string[] = []
    let talkToken = async (_user: string): Promise<string> => ''
    let house: ConsoleHouse | null = null
    const theHouse = (): ConsoleHouse => house ?? expect.fail('the server is not there yet')
    await using app = await openEmbedder(theHouse, async () => {
      const token = await talkToken('ada')
      made.push(token)
      return token
    })
    await using opened = await openHouse({ settings: { talk: { frame_origins: [app.origin] } } })
    house = opened
    talkToken = tokenMaker(opened)
    await using browser = await connectBrowser()
    const context = await browser.newContext({ viewport: DESK })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const failures: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        failures.push(message.text())
    })
    await page.goto(app.origin)
    const frame = page.frameLocator('#talk')
    await say(frame, 'hello')
    const talk = talkOf(frame)
    await talk.getByRole('heading', { name: 'Tides' }).waitFor()
    expect(await frame.locator('html').getAttribute('data-theme')).toBe('dark')
    expect(made.length).toBe(1)

    // As if the token had ended: the next request is refused, and goes out again with a new one.
    await fieldOf(frame).fill('Are you')
    const [first] = (await opened.client.tokens()).filter(({ user }) => user === 'ada')
    await opened.client.revokeToken(first?.id ?? '')
    await expect.poll(() => made.length, LATE).toBe(2)
    await fieldOf(frame).press('End')
    await fieldOf(frame).pressSequentially(' there?')
    await fieldOf(frame).press('Enter')
    await talk.getByText('Aye.').waitFor()
    await talk.getByRole('heading', { name: 'Tides' }).waitFor()
    await picture(page, 'frame')

    const kept = await page
      .frames()[1]
      ?.evaluate('[Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]')
    expect(kept).toEqual([[], [], ''])
    expect([await context.cookies(), failures]).toEqual([[], []])
    expect((await opened.client.sessions.list({ owner: '*' })).sessions.map(({ owner }) => owner)).toEqual(['ada'])
  })

  inBrowser(
    'a page that the settings do not name gets nothing, and the console never stands in a frame',
    BUSY,
    async () => {
      let asked = 0
      let house: ConsoleHouse | null = null
      const theHouse = (): ConsoleHouse => house ?? expect.fail('the server is not there yet')
      await using app = await openEmbedder(theHouse, async () => {
        asked += 1
        return 'never'
      })
      await using opened = await openHouse({ settings: { talk: { frame_origins: ['https://app.example.com'] } } })
      house = opened
      await using browser = await connectBrowser()
      const page = await (await browser.newContext()).newPage()
      const refusals: string[] = []
      page.on('console', (message) => message.type() === 'error' && refusals.push(message.text()))
      await page.goto(app.origin)
      await expect.poll(() => refusals.filter((text) => text.includes('frame-ancestors')).length, LATE).toBe(1)
      await page.evaluate(`document.getElementById('talk').src = ${JSON.stringify(`${opened.url}/console/`)}`)
      await expect.poll(() => refusals.filter((text) => text.includes('frame-ancestors')).length, LATE).toBe(2)

      expect(asked).toBe(0)
    },
  )
})
