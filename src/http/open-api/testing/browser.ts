// Controls Chromium over its debugging pipe, as far as the tests of our pages need it, without a dependency.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'

/** The Chromium of this Linux or macOS machine. Null if there is none. */
export const chromiumPath: string | null =
  [
    '/usr/bin/chromium',
    '/usr/bin/chromium-headless-shell',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ].find((path) => existsSync(path)) ?? null

export interface Page {
  /** Console messages, and what the page's policy refused. */
  readonly complaints: string[]
  /** Evaluates an expression, which may be a promise. */
  value(expression: string): Promise<unknown>
  /** Resolves when the expression is true, also across a reload. */
  until(expression: string): Promise<void>
  /** Types like a person. A line break is the Enter key. */
  type(text: string): Promise<void>
  reload(): Promise<void>
}

export interface Browser extends AsyncDisposable {
  /** Opens a page with its own storage. */
  open(url: string): Promise<Page>
}

interface Answer {
  id?: number
  method?: string
  sessionId?: string
  params?: { entry?: { text?: string }; args?: { value?: unknown }[]; exceptionDetails?: { text?: string } }
  result?: Record<string, unknown> & { exceptionDetails?: { text: string }; result?: { value?: unknown } }
  error?: { message: string }
}

/** Ends with `await using`. */
export async function openBrowser(path: string): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'quarterdeck-browser-'))
  const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-pipe']
  const child = spawn(path, [...flags, `--user-data-dir=${profile}`], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  })
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const { input, output } = pipesOf(child)

  const waiting = new Map<number, (answer: Answer) => void>()
  const pages = new Map<string, string[]>()
  let count = 0
  let rest = ''
  output.setEncoding('utf8')
  output.on('data', (chunk: string) => {
    const frames = (rest + chunk).split('\0')
    rest = frames.pop() ?? ''
    for (const frame of frames) {
      const answer: Answer = JSON.parse(frame)
      const { entry, args, exceptionDetails } = answer.params ?? {}
      if (answer.id !== undefined) waiting.get(answer.id)?.(answer)
      else if (answer.method === 'Log.entryAdded') pages.get(answer.sessionId ?? '')?.push(entry?.text ?? '')
      else if (answer.method === 'Runtime.consoleAPICalled')
        pages.get(answer.sessionId ?? '')?.push(`${args?.[0]?.value}`)
      else if (answer.method === 'Runtime.exceptionThrown')
        pages.get(answer.sessionId ?? '')?.push(exceptionDetails?.text ?? '')
    }
  })

  function send(method: string, params: Record<string, unknown>, sessionId?: string): Promise<Answer> {
    count += 1
    const id = count
    input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    return new Promise((resolve, reject) => {
      waiting.set(id, (answer) => {
        waiting.delete(id)
        if (answer.error === undefined) resolve(answer)
        else reject(new Error(`${method}: ${answer.error.message}`))
      })
    })
  }

  return {
    async open(url) {
      const context = await send('Target.createBrowserContext', {})
      const target = await send('Target.createTarget', {
        url: 'about:blank',
        browserContextId: context.result?.browserContextId,
      })
      const attached = await send('Target.attachToTarget', { targetId: target.result?.targetId, flatten: true })
      const session = String(attached.result?.sessionId)
      const complaints: string[] = []
      pages.set(session, complaints)
      const ask = (method: string, params = {}) => send(method, params, session)
      const value = async (expression: string) => {
        const { result } = await ask('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
        if (result?.exceptionDetails !== undefined) throw new Error(`${expression}: ${result.exceptionDetails.text}`)
        return result?.result?.value
      }
      const until = async (expression: string) => {
        const look = `new Promise((done) => { const look = () => (${expression}) ? done() : setTimeout(look, 20); look() })`
        const isTrue = () =>
          value(look).then(
            () => true,
            () => false,
          )
        // A page that is unloaded drops the question.
        while (!(await isTrue())) await new Promise(setImmediate)
      }
      await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable'].map((method) => ask(method)))
      await ask('Page.navigate', { url })
      return {
        complaints,
        value,
        until,
        async type(text) {
          const enter = { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' }
          for (const [index, words] of text.split('\n').entries()) {
            if (index > 0) {
              await ask('Input.dispatchKeyEvent', { type: 'keyDown', ...enter })
              await ask('Input.dispatchKeyEvent', { type: 'keyUp', ...enter })
            }
            if (words !== '') await ask('Input.insertText', { text: words })
          }
        },
        async reload() {
          await value('window.isOld = true')
          await ask('Page.reload')
          await until('!window.isOld')
        },
      }
    },
    async [Symbol.asyncDispose]() {
      // This way the browser also ends its helper processes.
      await Promise.race([send('Browser.close', {}), gone])
      await gone
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function pipesOf(child: ChildProcess): { input: Writable; output: Readable } {
  const [, , , input, output] = child.stdio
  if (!(input instanceof Writable) || !(output instanceof Readable)) throw new Error('the browser has no pipes')
  return { input, output }
}
