// The clients of examples/clients, run as their readers would run them, and what they print.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, request as httpRequest, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { testAgent } from '../../src/engine/testing/open-engine.ts'
import { startScriptedApp } from './scripted-app.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = join(root, 'examples', 'clients')
const agent = testAgent.name

const usage = { usage: { input: 5, output: 2 } }
const answers = [
  { when: { user: 'Hello' }, parts: [{ text: 'Good ' }, { text: 'day.' }, usage] },
  { when: { user: 'again' }, parts: [{ text: 'Good day ' }, { text: 'again.' }, usage] },
  { when: { user: 'time' }, parts: [{ text: 'Here ' }, { text: 'it is.' }, usage] },
  { when: { user: 'machine' }, parts: [{ text: 'I do ' }, { text: 'not know.' }, usage] },
  { when: { user: 'fail' }, parts: [{ text: 'Well' }, { error: { code: 'model_failed' as const, message: 'Why.' } }] },
]

interface Ended {
  code: number | null
  printed: string
  complained: string
}

/** Runs a command without our environment. */
async function run(command: string, args: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: tmpdir() }
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  const [printed, complained] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, printed, complained }
}

const node = (file: string, ...args: string[]) => run(process.execPath, [join(folder, file), ...args])

/** A server for one test. Use it with `await using`. */
async function serve(listener: RequestListener) {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

describe('programs', () => {
  test('quarterdeck-client.ts streams, waits, follows a run, and deletes', async () => {
    await using app = await startScriptedApp(answers)

    expect(await node('quarterdeck-client.ts', app.url, agent)).toEqual({
      code: 0,
      complained: '',
      printed: [
        'Good day.',
        'Good day again.',
        'RUN_STARTED',
        'STEP_STARTED',
        'TEXT_MESSAGE_START',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_CONTENT',
        'TEXT_MESSAGE_END',
        'STEP_FINISHED',
        'RUN_FINISHED',
        'the run is completed',
        'gone: run_not_found (404)',
        '',
      ].join('\n'),
    })
  })

  test('ag-ui.ts talks twice in one thread', async () => {
    await using app = await startScriptedApp(answers)

    expect(await node('ag-ui.ts', app.url)).toEqual({
      code: 0,
      complained: '',
      printed: expect.stringMatching(/^Good day\.\nGood day again\.\n4 messages in thread [\w-]{36}\n$/),
    })
  })

  test('openai.ts uses completions and responses, each with a history that the server keeps', async () => {
    await using app = await startScriptedApp(answers)

    expect(await node('openai.ts', app.url, agent)).toEqual({
      code: 0,
      complained: '',
      printed: `models: ${agent}\nGood day.\nGood day again.\nGood day.\nGood day again.\n`,
    })
    expect(app.engine.stats().runsStarted).toBe(4)
  })

  test('curl.sh gets answers, resumes, and deletes', async () => {
    await using app = await startScriptedApp(answers)

    const { code, printed, complained } = await run('bash', [join(folder, 'curl.sh'), app.url, agent])

    expect([code, complained]).toEqual([0, ''])
    const parts = printed.split(/^== .*\n/m).slice(1)
    const [whole = '', streamed = '', sent = '', all = '', rest = '', state = '', gone] = parts
    expect(JSON.parse(whole)).toMatchObject({ content: 'Good day.', session_id: expect.any(String) })
    expect(fields(streamed, 'event')).toEqual(['stream_start', 'message_delta', 'message_delta', 'stream_end'])
    const { run_id } = JSON.parse(sent)
    expect(fields(all, 'id')).toHaveLength(8)
    expect(fields(rest, 'id')).toEqual(fields(all, 'id').slice(2))
    expect(JSON.parse(state)).toMatchObject({ run_id, status: 'completed' })
    expect(gone).toBe('204\n')
  })

  test('curl.sh stops at the first refusal and shows it', async () => {
    await using app = await startScriptedApp(answers)

    const { code, printed } = await run('bash', [join(folder, 'curl.sh'), app.url, 'nobody'])

    expect(code).not.toBe(0)
    expect(printed.split('\n')).toHaveLength(2)
  })
})

const fields = (sse: string, name: string): string[] =>
  [...sse.matchAll(new RegExp(`^${name}: (.+)$`, 'gm'))].map(([, value = '']) => value)

describe('event-source.ts', () => {
  const eventSource = (url: string) =>
    run(process.execPath, [
      '--disable-warning=UNDICI-ES',
      '--experimental-eventsource',
      join(folder, 'event-source.ts'),
      url,
    ])

  test('leaves in the middle and gets only the rest when it is back', async () => {
    await using app = await startScriptedApp(answers)

    expect(await eventSource(app.url)).toEqual({
      code: 0,
      complained: '',
      printed: expect.stringMatching(/^Good \n\[left behind \d+, and back\]\nday\.\n$/),
    })
  })

  test('connects again by itself when its connection is cut, and misses nothing', async () => {
    await using app = await startScriptedApp(answers)
    const resumedBehind: unknown[] = []
    // Passes everything on, but cuts the first stream after its second event.
    await using proxy = await serve((request, reply) => {
      const { host: _own, ...headers } = request.headers
      const passed = httpRequest(app.url + request.url, { method: request.method, headers }, (answer) => {
        reply.writeHead(answer.statusCode ?? 500, answer.headers)
        const isStream = request.url?.startsWith('/runs/') === true
        if (isStream) resumedBehind.push(headers['last-event-id'])
        if (!isStream || resumedBehind.length > 1) return answer.pipe(reply)
        let seen = ''
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          seen += chunk
          const [first, second] = seen.split('\n\n').filter((frame) => frame.includes('data: '))
          if (first === undefined || second === undefined) return
          answer.destroy()
          reply.end(`${first}\n\n${second}\n\n`)
        })
      })
      request.pipe(passed)
    })

    const { code, printed } = await eventSource(proxy.url)

    expect(code).toBe(0)
    expect(printed).toMatch(/^\n\[connecting again\]\nGood \n\[left behind \d+, and back\]\nday\.\n$/)
    expect(resumedBehind).toEqual([undefined, expect.stringMatching(/^\w{26}\.\d+$/), undefined])
  })
})

describe('threads-client-tools.ts', () => {
  test('reads an answer', async () => {
    await using app = await startScriptedApp(answers)

    expect(await node('threads-client-tools.ts', app.url)).toEqual({
      code: 0,
      complained: '',
      printed: expect.stringMatching(/^I do not know\.\nthread [\w-]{36} is complete\n$/),
    })
  })

  test('shows a failure', async () => {
    await using app = await startScriptedApp(answers)

    expect(await node('threads-client-tools.ts', app.url, 'Please fail.')).toMatchObject({
      code: 1,
      printed: 'Well\nllm: Why.\n',
    })
  })

  // The test plays the server, in the words of the contract.
  test('runs the tools that it is asked for and sends their results', async () => {
    const results: unknown[] = []
    let goOn = () => {}
    await using server = await serve(async (request, reply) => {
      const body: unknown = JSON.parse(await text(request))
      if (request.url === '/tool_result') {
        results.push(body)
        reply.writeHead(200, { 'Content-Type': 'application/json' }).end('{"status":"received"}')
        if (results.length === 2) goOn()
        return
      }
      const say = (event: object) => reply.write(`: alive\n\ndata: ${JSON.stringify(event)}\n\n`)
      reply.writeHead(200, { 'Content-Type': 'text/event-stream' })
      const ask = { event: 'tool_execution_request', arguments: {}, thread_id: 't' }
      say({ ...ask, execution_id: 'e1', tool_name: 'hostname' })
      say({ ...ask, execution_id: 'e2', tool_name: 'toString' })
      goOn = () => {
        say({ event: 'tool_execution_complete', execution_id: 'e1' })
        say({ event: 'token', token: 'Done.' })
        say({ event: 'message_complete', thread_id: 't' })
        reply.end()
      }
    })

    const { code, printed } = await node('threads-client-tools.ts', server.url)

    expect(code).toBe(0)
    expect(printed).toMatch(/Done\.\nthread t is complete\n$/)
    expect(results).toHaveLength(2)
    expect(results).toEqual(
      expect.arrayContaining([
        { execution_id: 'e1', result: hostname(), execution_time_ms: expect.any(Number) },
        { execution_id: 'e2', error: 'This client has no tool toString.', execution_time_ms: expect.any(Number) },
      ]),
    )
  })
})

const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

describe.skipIf(chromium === undefined)('pages', () => {
  // Whenever the page changes, it tells the server that it came from what it shows.
  const report = `<script type="module">
    const answer = document.getElementById('answer')
    const tell = () => fetch('/shown', { method: 'POST', body: answer.textContent })
    new MutationObserver(tell).observe(answer, { childList: true, characterData: true, subtree: true })
  </script>`

  /** Opens a page until it shows what is expected; resolves with what it showed last. */
  async function shown(page: string, query: Record<string, string>, expected: RegExp): Promise<string> {
    const browser = new AbortController()
    let last = ''
    await using pages = await serve(async (request, reply) => {
      const { pathname } = new URL(request.url ?? '/', 'http://page')
      if (pathname === '/shown') {
        const now = await text(request)
        // These requests may overtake each other, but the text only grows.
        if (now.length > last.length) last = now
        reply.writeHead(204).end()
        if (expected.test(last)) browser.abort()
      } else if (pathname === `/${page}`) {
        const html = await readFile(join(folder, page), 'utf8')
        reply.writeHead(200, { 'Content-Type': 'text/html' }).end(html.replace('<script', `${report}<script`))
      } else {
        reply.writeHead(404).end()
      }
    })
    const profile = await mkdtemp(join(tmpdir(), 'quarterdeck-page-'))
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--remote-debugging-port=0',
    ]
    const address = `${pages.url}/${page}?${new URLSearchParams({ ...query, send: '1' })}`
    const child = spawn(chromium ?? '', [...flags, `--user-data-dir=${profile}`, address], {
      stdio: 'ignore',
      signal: browser.signal,
      timeout: 60_000,
    })
    // The abort counts as an error too.
    child.on('error', () => {})
    await new Promise((resolve) => child.on('close', resolve))
    await rm(profile, { recursive: true, force: true, maxRetries: 10 })
    return last
  }

  test('browser.html shows the answer as it comes', async () => {
    await using app = await startScriptedApp(answers)

    const expected = /^> Hello!\nGood day\.\n\n$/
    expect(await shown('browser.html', { url: app.url, agent }, expected)).toMatch(expected)
  })

  test('browser.html shows a refusal', async () => {
    await using app = await startScriptedApp(answers)

    const expected = /^> Hello!\n\n.*nobody.*\n\n$/
    expect(await shown('browser.html', { url: app.url, agent: 'nobody' }, expected)).toMatch(expected)
  })

  test('event-source.html shows the answer of a background run', async () => {
    await using app = await startScriptedApp(answers)

    const expected = /^Good day\.$/
    expect(await shown('event-source.html', { url: app.url }, expected)).toMatch(expected)
  })
})
