import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApp } from '../../app.ts'
import { resolveSettings } from '../../config/resolve-settings.ts'
import type { SettingFlags } from '../../config/settings.ts'
import { silentLogger } from '../../domain/logger.ts'
import { testAgent } from '../../engine/testing/open-engine.ts'
import { serverTool } from '../../tools/server-tool.ts'
import { type Browser, chromiumPath, openBrowser, type Page } from './testing/browser.ts'

const look = serverTool({
  name: 'look',
  description: 'Looks out.',
  parameters: { type: 'object', properties: { where: { type: 'string' } } },
  effect: 'read',
  timeoutMs: 1_000,
  call: async ({ arguments: { where } }) => ({ content: `a ship to ${where}`, isError: false }),
})

const answers = [
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
    agents: [{ ...testAgent, name: 'lookout', directory, model: { ...testAgent.model, script } }],
    settings,
    dataDir: directory,
    version: '0.0.0-test',
    log: silentLogger,
    exit: (code) => {
      throw new Error(`the server wanted to exit with ${code}`)
    },
    tools: { lookout: [look] },
  })
  const { url, tokens } = await app.listen()
  return {
    url,
    token: (await tokens.create({ name: 'page', user: 'ada', role: 'user' }, 'test')).token,
    async [Symbol.asyncDispose]() {
      await app.close({ drainMs: 0 })
      rmSync(directory, { recursive: true })
    },
  }
}

const conversation = `[...document.querySelectorAll('#log article')].map((one) => [one.className, one.querySelector('p').textContent])`
/** Its script has run, and nothing is under way. */
const isIdle = `document.readyState === 'complete' && !document.getElementById('send').disabled`
const isReady = `${isIdle} && document.getElementById('status').textContent === ''`
const shows = (text: string) => `document.getElementById('log').textContent.includes(${JSON.stringify(text)})`
const focused = 'document.activeElement.id'

async function open(browser: Browser, url: string): Promise<Page> {
  const page = await browser.open(url)
  await page.until(isIdle)
  return page
}

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
    expect(await page.value(conversation)).toEqual(said)
    await page.reload()
    await page.until(`${shows('a sail')} && ${isReady}`)
    expect(await page.value(conversation)).toEqual(said)
    expect(page.complaints).toEqual([])
  })

  test('stops a run, also one that was begun before a reload, and says why another failed', async () => {
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

  test('asks for the token where one is needed, and takes it from the link without leaving it there', async () => {
    await using app = await startApp({ 'auth.mode': 'token' })

    const stranger = await open(browser, app.url)
    expect([await stranger.value('document.title'), await stranger.value(focused)]).toEqual(['Quarterdeck', 'token'])
    await stranger.type(`${app.token}\n`)
    await stranger.until(`document.title === 'lookout' && ${isReady}`)
    expect(await stranger.value(`document.getElementById('login').hidden`)).toBe(true)

    const guest = await open(browser, `${app.url}/#token=${app.token}`)
    expect([await guest.value('document.title'), await guest.value('location.href')]).toEqual([
      'lookout',
      `${app.url}/`,
    ])
    expect(guest.complaints).toEqual([])
  })
})
