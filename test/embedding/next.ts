// Runs examples/next-copilotkit in the real Next, with a real browser. Its install is too large for every checkout, so it gets a folder of
// its own:
//   npm run test:embedding

import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { request as send } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { createClient } from '../../src/client/client.ts'
import { findBrowser, NO_BROWSER } from '../browser/find-browser.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-next-'))
const app = join(folder, 'app')
const say = (text: string) => process.stdout.write(`${text}\n`)
const env = {
  ...process.env,
  NEXT_TELEMETRY_DISABLED: '1',
  QUARTERDECK_TOKEN: 'the-token-of-the-person-at-the-page',
  QUARTERDECK_CONFIG_DIR: join(folder, 'config'),
  QUARTERDECK_LOG_LEVEL: 'error',
  QUARTERDECK_LIMITS_DISCONNECT_GRACE: '0s',
}
const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' })

async function timed<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  say(`${name}: ${((performance.now() - began) / 1000).toFixed(1)} s`)
  return result
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** The status and the first bytes of a stream, before it ends. */
function firstOf(url: string, body: string): Promise<{ status: number; type: string; text: string }> {
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
        if (!text.includes('message_delta')) return
        response.destroy()
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text })
      })
    })
    request.once('error', reject).end(body)
  })
}

async function check(url: string): Promise<void> {
  const client = createClient({ url })
  const { status, type, text } = await firstOf(`${url}/agent/clerk/chat/stream`, '{"message":"count 500"}')
  assert.deepEqual([status, type, text.includes('stream_end')], [200, 'text/event-stream', false])
  const id = /"message_id":"([^"]+)"/.exec(text)?.[1] ?? ''
  let stopped = await client.run(id)
  while (stopped.status === 'running') stopped = await client.run(id)
  assert.equal(stopped.status, 'cancelled')
  say('a stream is not held back, and a reader that goes is noticed')

  const content = 'A line of text.\n'.repeat(100_000)
  const file = await client.upload(new Blob([content]), { name: 'notes.txt' })
  assert.equal(await (await client.download(file)).text(), content)
  say('files are sent and fetched')

  const sent = await fetch(`${url}/sessions/job/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"message":"hi"}',
  })
  assert.match(sent.headers.get('location') ?? '', /^\/api\/agent\/runs\//)
  const missing = await fetch(`${url}/nowhere`)
  assert.deepEqual([missing.status, missing.headers.get('content-type')], [404, 'application/problem+json'])
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  assert.match(await page.text(), /<title>Quarterdeck<\/title>/)
  say('headers, failures and the page are ours')
}

/** What a person does at the page and sees on it. */
async function checkPage(url: string): Promise<void> {
  const program = findBrowser(process.env)
  if (program === null) {
    say(`SKIPPED: the page. ${NO_BROWSER}`)
    return
  }
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    const write = async (text: string) => {
      await page.getByTestId('copilot-chat-textarea').fill(text)
      await page.getByTestId('copilot-send-button').click()
    }
    const shows = (text: string) => page.getByTestId('copilot-assistant-message').getByText(text).waitFor()
    await page.goto(url)
    await write('count 3')
    await shows('1, 2, 3.')
    await write('set_background {"color": "teal"}')
    await shows('The page is teal now.')
    assert.equal(await page.evaluate('document.body.style.background'), 'teal')
    await write('book_room {"room": "Blue", "day": "2030-01-02"}')
    await page.getByRole('button', { name: 'Approve' }).click()
    await shows('Blue is booked for')
    await page.reload()
    await shows('1, 2, 3.')
    say('the page talks, paints itself, lets its user decide, and shows the thread after a reload')
  } finally {
    await browser.close()
  }
}

try {
  const [{ filename }] = await timed('pack', () =>
    JSON.parse(run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], root)),
  )
  cpSync(join(root, 'examples/next-copilotkit'), app, { recursive: true })
  await timed('install', () =>
    run('npm', ['install', '--ignore-scripts', '--loglevel=error', join(folder, filename)], app),
  )
  say(`installed: ${run('du', ['-sm', 'node_modules'], app).split('\t')[0]} MB`)
  const next = join(app, 'node_modules/next/dist/bin/next')
  await timed('build', () => run(process.execPath, [next, 'build'], app))
  const port = await freePort()
  const args = [next, 'start', '-H', '127.0.0.1', '-p', String(port)]
  const server = spawn(process.execPath, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  try {
    await new Promise<void>((resolve, reject) => {
      server.stdout.on('data', (chunk) => String(chunk).includes('Ready') && resolve())
      server.once('exit', () => reject(new Error('next start has ended')))
    })
    await timed('checks', () => check(`http://127.0.0.1:${port}/api/agent`))
    await timed('the page', () => checkPage(`http://127.0.0.1:${port}`))
  } finally {
    server.kill()
    await ended
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
