import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { figureOf, round } from '../figure.ts'
import type { Target } from '../stage.ts'
import type { Scenario } from './scenario.ts'

const LIMIT_MS = 200
const ROUNDS = 3
const BYTES = 10_000_000
const nobody = '0192f3a1-7b2c-7def-8abc-0123456789ab'

interface Attack {
  what: string
  path: string
  body: string
  status: number
}

const listOf = (count: number, item: string): string => `[${Array.from({ length: count }, () => item).join(',')}]`
const keys = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":0`).join(',')
const agUi = (more: string): string => `{"threadId":"t","runId":"r","tools":[],"context":[],${more}}`
const said = (content: string): string => `{"role":"user","content":${content}}`

/** Each body is as large as its route allows, or a little larger. */
const attacks: readonly Attack[] = [
  { what: 'five million values', path: '/', body: listOf(BYTES / 2, '0'), status: 413 },
  { what: '10 MB of text', path: '/', body: agUi(`"messages":[${said(`"${'x'.repeat(9_900_000)}"`)}]`), status: 400 },
  { what: '10 MB of escapes', path: '/', body: `"${'\\u00e4'.repeat(1_600_000)}"`, status: 400 },
  { what: '150,000 messages', path: '/', body: agUi(`"messages":${listOf(150_000, '{}')}`), status: 413 },
  {
    what: '24,000 new messages',
    path: '/',
    body: agUi(
      `"messages":[${Array.from({ length: 24_000 }, (_, i) => `{"id":"m${i}","role":"user","content":"x"}`).join(',')}]`,
    ),
    status: 413,
  },
  { what: '99,000 wrong contexts', path: '/', body: `{"context":${listOf(99_000, '{}')}}`, status: 400 },
  {
    what: '99,000 wrong tool calls',
    path: '/',
    body: agUi(`"messages":[{"id":"a","role":"assistant","toolCalls":${listOf(99_000, '{}')}}]`),
    status: 400,
  },
  { what: '99,000 unknown keys', path: '/', body: `{${keys(99_000)}}`, status: 400 },
  { what: '99,000 unknown keys', path: '/sessions/s/messages', body: `{"message":"x",${keys(99_000)}}`, status: 400 },
  { what: '90,000 unknown keys', path: '/chat', body: `{"message":"x","user_id":"u",${keys(90_000)}}`, status: 422 },
  { what: '10 MB', path: '/chat', body: `{"message":"${'x'.repeat(BYTES)}"}`, status: 413 },
  { what: '10 MB', path: '/tool_result', body: `{"result":"${'x'.repeat(BYTES)}"}`, status: 413 },
  { what: '10 MB', path: `/approvals/${nobody}`, body: `{"reason":"${'x'.repeat(BYTES)}"}`, status: 413 },
  { what: '60 KB', path: `/approvals/${nobody}`, body: `{${keys(5_000)}}`, status: 404 },
  {
    what: '99,000 wrong messages',
    path: '/v1/chat/completions',
    body: `{"messages":${listOf(99_000, '0')}}`,
    status: 400,
  },
  {
    what: '99,000 wrong parts',
    path: '/v1/chat/completions',
    body: `{"messages":[${said(listOf(99_000, '0'))}]}`,
    status: 400,
  },
  {
    what: '99,000 wrong tools',
    path: '/v1/chat/completions',
    body: `{"messages":[${said('"x"')}],"tools":${listOf(99_000, '0')}}`,
    status: 400,
  },
  { what: '99,000 wrong items', path: '/v1/responses', body: `{"input":${listOf(99_000, '{}')}}`, status: 400 },
  {
    what: '19,000 calls of one turn',
    path: '/v1/responses',
    body: `{"input":${listOf(19_000, '{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}')}}`,
    status: 400,
  },
  {
    what: '30,000 references',
    path: '/v1/responses',
    body: `{"input":${listOf(30_000, '{"type":"item_reference","id":"msg_1"}')}}`,
    status: 413,
  },
]

/** The longest time that a refused body blocks the server's event loop. */
export const hostile: Scenario = {
  name: 'hostile',
  async run(stage) {
    const file = join(stage.folder('hostile'), 'longest-turn')
    const server = await stage.server({
      nodeArgs: ['--import', join(import.meta.dirname, '..', '..', 'test', 'crash', 'support', 'loop-probe.ts')],
      env: { LOOP_PROBE_FILE: file },
    })
    const problems: string[] = []
    let worst = { ms: 0, name: '' }
    // The first round compiles the code for the others.
    for (let round_ = 0; round_ < ROUNDS; round_ += 1) {
      await longestTurn(server, file)
      for (const attack of attacks) {
        const status = await send(server, attack)
        const name = `${attack.what} at ${attack.path}`
        const wanted = status === attack.status || (round_ === 0 && status === null)
        if (!wanted) problems.push(`${name}: ${status} in place of ${attack.status}`)
        const ms = await longestTurn(server, file)
        if (ms > worst.ms) worst = { ms, name }
      }
    }
    await server.stop()
    return [
      figureOf({
        scenario: 'hostile',
        what: 'longest turn of the loop for a hostile body',
        server: `${round(worst.ms)} ms`,
        value: worst.ms,
        limit: LIMIT_MS,
        unit: ' ms',
        problems,
        note: `${attacks.length} bodies of up to 10 MB, ${ROUNDS} times each, all refused; CPU of the main thread; worst: ${worst.name}`,
      }),
    ]
  },
}

/** Null: the server closed the connection before everything was sent, and the answer was lost. */
function send({ url }: Target, { path, body }: Attack): Promise<number | null> {
  return new Promise((resolve) => {
    const bytes = Buffer.from(body)
    const headers = { 'Content-Type': 'application/json', 'Content-Length': String(bytes.length) }
    const call = request(new URL(path, url), { method: 'POST', headers, agent: false }, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.statusCode ?? null))
    })
    call.on('error', () => resolve(null))
    call.end(bytes)
  })
}

/** Milliseconds of CPU since the last call. */
async function longestTurn({ child }: Target, file: string): Promise<number> {
  const before = readIfThere(file)
  process.kill(child.pid, 'SIGUSR2')
  for (let waited = 0; waited < 5_000; waited += 20) {
    await delay(20)
    const now = readIfThere(file)
    if (now !== before) return Number(now)
  }
  return Number(before)
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
