import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../../app.ts'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import type { SettingFlags } from '../../../config/settings/settings.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import { testAgent } from '../../../engine/testing/open-engine.ts'
import { serverTool } from '../../../tools/testing/server-tool.ts'
import { type Browser, chromiumPath, openBrowser, type Page } from './testing/browser.ts'

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object', properties: { where: { type: 'string' } } },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { where } }) => ({ content: `a ship to ${where}`, isError: false }),
})

/** Has a high risk, so a person is asked. */
const send = serverTool({
  name: 'send',
  description: 'Sends a letter.',
  parameters: { type: 'object', properties: { to: { type: 'string' }, text: { type: 'string' } } },
  effect: 'once',
  timeoutMs: 1_000,
  call: async ({ arguments: { to } }) => ({ content: `sent to ${to}`, isError: false }),
})

const letter = { to: 'bob', text: 'Dear\u00a0Bob,\n<b>sell</b>' }

const answers = [
  { when: { tool: 'send' }, parts: [{ text: 'Done.' }] },
  { when: { user: 'send it' }, parts: [{ tool_call: { name: 'send', arguments: letter } }] },
  { when: { user: 'hide it' }, parts: [{ tool_call: { name: 'send', arguments: { to: 'bob\u202e' } } }] },
  {
    when: { user: 'long' },
    parts: [{ tool_call: { name: 'send', arguments: { to: 'eve', text: 'x\n'.repeat(100) } } }],
  },
  {
    when: { user: 'format' },
    parts: [
      { text: '# Pl' },
      { text: 'an\n\n- **one** ' },
      { text: '[x](javascript:alert(1))\n- [y](https://y.example)' },
    ],
  },
  {
    when: { tool: 'look' },
    parts: [{ text: 'A ship <img src=x onerror=alert(1)>' }, { text: '\u2028and\n<b>a sail</b>.' }],
  },
  {
    when: { user: 'look' },
    parts: [{ reasoning: 'Up the mast.' }, { tool_call: { name: 'look', arguments: { where: 'south' } } }],
  },
  { when: { user: 'wait' }, parts: [{ text: 'Waiting' }, { hang: true }] },
  { when: { user: 'fail' }, parts: [{ error: { code: 'model_auth_failed', message: 'The key is wrong.' } }] },
]

/** The whole server. Ends with `await using`. */
async function startApp(flags: SettingFlags = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'quarterdeck-page-'))
  const script = join(directory, 'script.json')
  writeFileSync(script, JSON.stringify({ answers }))
  const { settings } = resolveSettings({ flags: { port: '0', ...flags }, env: {}, file: null, onTerminal: false })
  const app = await createApp({
    agents: [
      {
        ...testAgent,
        name: 'lookout',
        directory,
        model: { ...testAgent.model, script },
        approval: { ...testAgent.approval, default: { ask: 'risk', atLeast: 'high' }, by: 'owner' },
      },
    ],
    settings,
    dataDir: directory,
    version: '0.0.0-test',
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
    tools: { lookout: [look, send] },
  })
  const { url, tokens } = await app.listen()
  return {
    url,
    token: (await tokens.create({ name: 'page', user: 'ada', role: 'user' }, 'test')).token,
    ownToken: (await tokens.create({ name: 'own', user: LOCAL_USER, role: 'user' }, 'test')).token,
    operatorToken: tokens.operatorToken,
    async [Symbol.asyncDispose]() {
      await app.close({ drainMs: 0 })
      rmSync(directory, { recursive: true })
    },
  }
}

const conversation = `[...document.querySelectorAll('#log article')].map((one) => [one.className, one.querySelector('.body, .outcome')?.textContent])`
/** No run is active. */
const isReady = `!document.getElementById('send').disabled && document.getElementById('status').textContent === ''`
const shows = (text: string) => `document.getElementById('log').textContent.includes(${JSON.stringify(text)})`
const isOpenCard = `document.querySelector('.approval.open') !== null`
const focused = 'document.activeElement.id'

async function open(browser: Browser, url: string): Promise<Page> {
  const page = await browser.open(url)
  await page.until(`document.title === 'lookout' || !document.getElementById('login').hidden`)
  return page
}

const post = (url: string, body: object, token: string | null = null) =>
  fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })

// Without a Chromium on the machine only the answer over HTTP is tested, in `routes.test.ts`.
describe.skipIf(chromiumPath === null)('the page in a browser', { timeout: 60_000 }, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser(chromiumPath ?? '')
  })
  afterAll(() => browser[Symbol.asyncDispose]())

  test('streams an answer as text, with reasoning and tool calls, and shows the same after a reload', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)
    expect([await page.value('document.title'), await page.value(focused)]).toEqual(['lookout', 'text'])

    await page.type('Please look\n')
    await page.until(`${shows('a sail')} && ${isReady}`)

    const said = [
      ['user', 'Please look'],
      ['reasoning', 'Up the mast.'],
      ['tool', 'look {"where":"south"} → a ship to south'],
      ['assistant', 'A ship <img src=x onerror=alert(1)>\u2028and\n<b>a sail</b>.'],
    ]
    expect(await page.value(`document.querySelectorAll('#log img, #log b').length`)).toBe(0)
    expect(await page.value(conversation)).toEqual(said)
    await page.reload()
    await page.until(`${shows('a sail')} && ${isReady}`)
    expect(await page.value(conversation)).toEqual(said)
    expect(page.complaints).toEqual([])
  })

  test('stops a run, also one that began before a reload, and says why another failed', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)

    await page.type('wait\n')
    await page.until(shows('Waiting'))
    await page.reload()
    await page.until(`${shows('Waiting')} && !document.getElementById('stop').disabled`)
    await page.value(`document.getElementById('stop').focus()`)
    await page.type('\n')
    await page.until(isReady)
    expect(await page.value(focused)).toBe('text')
    await page.type('fail\n')
    await page.until(`${shows('The key')} && ${isReady}`)

    expect(await page.value(conversation)).toEqual([
      ['user', 'wait'],
      ['assistant', 'Waiting'],
      ['note', 'Stopped.'],
      ['user', 'fail'],
      ['error', 'The key is wrong.'],
    ])
    expect(await page.value('Object.keys(sessionStorage)')).toEqual(['thread'])
  })

  test('asks for a token if needed, and removes a token in the link from the address', async () => {
    await using app = await startApp({ 'auth.mode': 'token' })

    const stranger = await open(browser, app.url)
    expect([await stranger.value('document.title'), await stranger.value(focused)]).toEqual(['Quarterdeck', 'token'])
    await stranger.type(`${app.token}\n`)
    await stranger.until(`document.title === 'lookout' && ${isReady}`)
    expect(await stranger.value(`document.getElementById('login').hidden`)).toBe(true)

    const guest = await open(browser, `${app.url}/#token=${app.token}`)
    await guest.until(`document.title === 'lookout'`)
    expect(await guest.value('location.href')).toMatch(/^http:[^#]+\/#thread=[\w-]+$/)
    expect(guest.complaints).toEqual([])
  })

  test('shows Markdown as elements, with links only for web addresses', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)
    await page.type('format\n')
    await page.until(`${shows('Plan')} && ${shows('y')} && ${isReady}`)

    expect(
      await page.value(
        `[...document.querySelectorAll('.assistant .body :is(h3, li, strong, a)')].map((one) => [one.localName, one.textContent])`,
      ),
    ).toEqual([
      ['h3', 'Plan'],
      ['li', 'one [x](javascript:alert(1))'],
      ['strong', 'one'],
      ['li', 'y'],
      ['a', 'y'],
    ])
    expect(await page.value(`[...document.links].map(({ href, rel }) => [href, rel])`)).toEqual([
      ['https://y.example/', 'noopener noreferrer'],
    ])
    expect(page.complaints).toEqual([])
  })

  test('shows the whole pending call, asks for a token to decide, and another page shows the decision', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)
    await page.type('send it\n')
    await page.until(isOpenCard)
    const other = await browser.open(String(await page.value('location.href')))
    await other.until(isOpenCard)
    expect(await page.value(`[...document.querySelectorAll('dt, dd')].map((one) => one.textContent)`)).toEqual([
      'to',
      'bob',
      'text',
      'Dear<U+00A0>Bob,\\n\n<b>sell</b>',
    ])

    await page.until(`!document.querySelector('.yes').disabled`)
    await page.value(`document.querySelector('.yes').focus()`)
    await page.type('\n')
    expect([await page.value(focused), await page.value(`document.getElementById('why').textContent`)]).toEqual([
      'token',
      'Deciding needs your token. It stays in this tab.',
    ])
    await page.type(`${app.token}\n`)
    await page.until(`document.getElementById('why').textContent.startsWith('This token belongs to another user.')`)
    await page.type(`${app.ownToken}\n`)

    const decided = `${shows('Approved by local_user')} && ${shows('Done.')} && ${isReady}`
    await Promise.all([page.until(decided), other.until(decided)])
    expect(
      await page.value('[Object.keys(sessionStorage).sort(), Object.keys(localStorage), document.cookie]'),
    ).toEqual([['deciding', 'thread'], [], ''])
    expect(await page.value('document.activeElement.className')).toBe('approval over high')
    expect(await other.value(conversation)).toEqual([
      ['user', 'send it'],
      ['tool', expect.stringContaining(' → sent to bob')],
      ['approval over high', expect.stringMatching(/^Approved by local_user, /)],
      ['assistant', 'Done.'],
    ])
    await page.reload()
    await page.until(decided)
    expect(await page.value(conversation)).toEqual(await other.value(conversation))
  })

  test('shows a long question from its beginning, and enables Approve when its end has been seen', async () => {
    await using app = await startApp()
    // A path cannot contain this name, so it counts as none.
    const page = await open(browser, `${app.url}/#thread=..`)
    await page.type('long\n')
    await page.until(isOpenCard)

    const top = (selector: string) => `document.querySelector('${selector}').getBoundingClientRect().top`
    await page.until(`Math.abs(${top('.approval')} - ${top('#log')}) < 8`)
    expect(await page.value(`${top('.buttons')} > innerHeight && document.querySelector('.yes').disabled`)).toBe(true)
    await page.value(`document.querySelector('.buttons').scrollIntoView()`)
    await page.until(`!document.querySelector('.yes').disabled`)
  })

  test('shows a decision of a program, and asks for the operator’s token if only the operator may decide', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)
    await page.type('hide it\n')
    await page.until(`${isOpenCard} && ${shows('bob<U+202E>')} && !document.querySelector('.yes').disabled`)
    await page.value(
      `sessionStorage.deciding = ${JSON.stringify(app.ownToken)}, document.querySelector('.yes').click()`,
    )
    await page.until(`document.getElementById('why').textContent.startsWith('This needs the operator’s token.')`)

    const list = (await (await fetch(`${app.url}/approvals`)).json()) as { approvals: { approval_id: string }[] }
    const path = `/approvals/${list.approvals[0]?.approval_id}`
    const answer = await post(`${app.url}${path}`, { decision: 'reject', reason: 'No.' }, app.operatorToken)

    expect(answer.status).toBe(200)
    await page.until(`${shows('Rejected by operator')} && ${shows('Done.')}`)
    expect(await page.value(`document.querySelectorAll('.approval button').length`)).toBe(0)
  })

  test('removes messages and decisions of a branch that another client abandoned', async () => {
    await using app = await startApp()
    const page = await open(browser, app.url)
    await page.type('Please look\n')
    await page.until(`${shows('a sail')} && ${isReady}`)
    await page.type('hide it\n')
    await page.until(isOpenCard)
    const list = (await (await fetch(`${app.url}/approvals`)).json()) as { approvals: { approval_id: string }[] }
    const path = `/approvals/${list.approvals[0]?.approval_id}`
    await post(`${app.url}${path}`, { decision: 'reject', reason: 'No.' }, app.operatorToken)
    await page.until(`${shows('Rejected by operator')} && ${shows('Done.')} && ${isReady}`)

    const threadId = await page.value('sessionStorage.thread')
    const ask = async (runId: string, messages: unknown[]) =>
      (await post(app.url, { threadId, runId, messages, protocolVersion: '1.0' })).text()
    const [said] = /\{"id":"[^"]+","role":"user","content":"Please look"\}/.exec(await ask('look', [])) ?? []
    await ask('edit', [JSON.parse(said ?? ''), { id: 'edited', role: 'user', content: 'format' }])

    const isLeft = `${shows('Plan')} && !${shows('hide it')} && !${shows('Rejected')} && ${isReady}`
    await page.until(isLeft)
    const now = await page.value(conversation)
    expect(now).toEqual([
      ['user', 'Please look'],
      ['user', 'format'],
      ['assistant', expect.stringContaining('Plan')],
    ])
    await page.reload()
    await page.until(isLeft)
    expect(await page.value(conversation)).toEqual(now)
    expect(page.complaints).toEqual([])
  })
})
