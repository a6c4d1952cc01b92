// CPU time from opening the link that a new server prints to the first letter in the field of the chat: of the server and of the browser's
// processes together. A browser that was never used, and a server that nobody has asked anything yet.
//   node bench/console-start.ts [--rounds 7]     after `npm run build`; needs `script`, which Debian and Ubuntu have

import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { findBrowser, NO_BROWSER } from '../test/browser/find-browser.ts'
import { median } from './percentiles.ts'
import { cpuMs, processTree } from './process-stat.ts'

const root = join(import.meta.dirname, '..')
const LONGEST_MS = 60_000
/** A person needs as long to open the link. The server loads the console's routes meanwhile, and a new browser has things to do too. */
const SETTLE_MS = 2_500

interface Round {
  server: number
  /** By what the process does: `browser`, `renderer`, `gpu-process`, `utility`. */
  browser: ReadonlyMap<string, number>
  wallMs: number
}

async function measure(script: string, folder: string): Promise<Round> {
  mkdirSync(folder)
  const env = { ...process.env, QUARTERDECK_CONFIG_DIR: join(folder, 'config'), QUARTERDECK_RELAUNCHED: '1' }
  const command = `stty cols 250; exec ${process.execPath} ${script} serve --port 0 --data-dir ${join(folder, 'data')}`
  const server = start('script', ['-qfec', command, '/dev/null'], env)
  const browser = start(findBrowser(process.env) ?? fail(NO_BROWSER), [
    ...['--headless', '--no-sandbox', '--no-first-run', '--remote-debugging-port=0'],
    // A machine without a mouse is a phone to the page.
    '--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4',
    ...['--window-size=1440,900', `--user-data-dir=${join(folder, 'profile')}`, 'about:blank'],
  ])
  try {
    const link = await server.said(/http:\/\/\S+\/console#code=[\w-]+/)
    const tab = await openTab((await browser.said(/ws:\/\/\S+/)).replace(/^ws:(\/\/[^/]+)\/.*/, 'http:$1/json/list'))
    await tab.send('Page.bringToFront')
    await delay(SETTLE_MS)
    const before = { server: cpuMs(server.pid), browser: cpuByType(browser.pid), at: performance.now() }
    await tab.send('Page.navigate', { url: link })
    await tab.until(`document.activeElement?.localName === 'textarea'`)
    await tab.send('Input.insertText', { text: 'x' })
    await tab.until(`document.activeElement?.value === 'x'`)
    const after = cpuByType(browser.pid)
    return {
      server: cpuMs(server.pid) - before.server,
      browser: new Map([...after].map(([type, ms]) => [type, ms - (before.browser.get(type) ?? 0)])),
      wallMs: performance.now() - before.at,
    }
  } finally {
    await Promise.all([server.stop(), browser.stop()])
  }
}

function cpuByType(pid: number): Map<string, number> {
  const spent = new Map<string, number>()
  for (const each of processTree(pid)) {
    const command = readFileSync(`/proc/${each}/cmdline`, 'utf8')
    const type = /--type=([\w-]+)/.exec(command)?.[1] ?? 'browser'
    const children = processTree(each).slice(1)
    // `cpuMs` is about a process and all below it.
    const own = cpuMs(each) - children.filter((one) => parentOf(one) === each).reduce((all, one) => all + cpuMs(one), 0)
    spent.set(type, (spent.get(type) ?? 0) + own)
  }
  return spent
}

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** The page, spoken to without a library: what those put into a page would be measured too. */
async function openTab(list: string) {
  const pages = (await (await fetch(list)).json()) as { type: string; webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(pages.find(({ type }) => type === 'page')?.webSocketDebuggerUrl ?? fail('no page'))
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  let last = 0
  async function send(method: string, params: object = {}): Promise<{ result?: { value?: unknown } }> {
    last += 1
    const id = last
    const answered = Promise.withResolvers<{ result?: { value?: unknown } }>()
    const hear = ({ data }: { data: unknown }): void => {
      const message = JSON.parse(String(data)) as { id?: number; result?: { result?: { value?: unknown } } }
      if (message.id !== id) return
      socket.removeEventListener('message', hear)
      answered.resolve(message.result ?? {})
    }
    socket.addEventListener('message', hear)
    socket.send(JSON.stringify({ id, method, params }))
    return answered.promise
  }
  async function until(expression: string): Promise<void> {
    const end = performance.now() + LONGEST_MS
    while ((await send('Runtime.evaluate', { expression })).result?.value !== true) {
      if (performance.now() > end) fail(`The page never came to: ${expression}`)
      await delay(20)
    }
  }
  return { send, until }
}

function start(command: string, args: readonly string[], env = process.env) {
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let text = ''
  const heard = new EventTarget()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (more: string) => {
      text += more
      heard.dispatchEvent(new Event('text'))
    })
  return {
    pid: child.pid ?? fail(`${command} does not start`),
    async said(what: RegExp): Promise<string> {
      const signal = AbortSignal.timeout(LONGEST_MS)
      for (;;) {
        const found = what.exec(text)?.[0]
        if (found !== undefined) return found
        if (signal.aborted) fail(`${command} did not say ${what}:\n${text}`)
        await delay(50)
      }
    },
    async stop(): Promise<void> {
      for (const pid of processTree(child.pid ?? 0).reverse()) {
        try {
          process.kill(pid, 'SIGTERM')
        } catch {}
      }
      await ended
    },
  }
}

function fail(why: string): never {
  throw new Error(why)
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '7' } } })
const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-console-start-'))
try {
  // Under `node_modules` the launcher uses the build.
  const place = join(folder, 'node_modules/quarterdeck')
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(place, name), { recursive: true })
  const rounds: Round[] = []
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const measured = await measure(join(place, 'bin/quarterdeck.js'), join(folder, String(round)))
    const browser = [...measured.browser].map(([type, ms]) => `${type} ${ms}`).join(', ')
    const isFirst = round === 0 ? '   (fills the cache of compiled code, does not count)' : ''
    process.stdout.write(`server ${measured.server}, ${browser}, wall ${Math.round(measured.wallMs)}${isFirst}\n`)
    if (round > 0) rounds.push(measured)
  }
  const server = median(rounds.map((one) => one.server))
  const browser = median(rounds.map((one) => [...one.browser.values()].reduce((all, ms) => all + ms, 0)))
  process.stdout.write(`median: ${server + browser} ms of CPU: server ${server}, browser ${browser}\n`)
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
}
