// Asks the server about one hook. It may take as long as a person needs, so the server sends a sign of life every few seconds.

import type { ClientRequest } from 'node:http'
import type { Clock } from '../../../domain/clock.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { HEARTBEAT_MS } from '../../../protocols/hooks/encode.ts'

// Not imported: as ES modules they load all of Node's fetch, and a hook runs before every call.
const { request: requestHttp } = process.getBuiltinModule('node:http')
const { request: requestHttps } = process.getBuiltinModule('node:https')

export interface HookQuestion {
  /** Of the server, without a path. After a restart it may be another one. */
  url: () => string
  token: string
  host: string
  /** What the host wrote to the hook. */
  body: string
  /** The answer must be there by then. */
  limitMs: number
}

export type Asked = { answer: string } | { failure: string }

/** A server that was alive and sends nothing for so long hangs. */
const SILENCE_MS = 6 * HEARTBEAT_MS
/** A server that is gone in the middle may be restarting. The question is still in its store, and the same call finds it. */
const RESTART_MS = 60_000
const RETRY_MS = 1_000
const CONNECT_MS = 10_000
/** For the answer to arrive after the server's own limit. */
const GRACE_MS = 5_000
const LARGEST_ANSWER = 16 * 1024 * 1024

type Attempt =
  | { type: 'answer'; text: string }
  /** Nobody answered at all. */
  | { type: 'dead'; why: string }
  /** The server took the question, or it is starting. It is worth asking again. */
  | { type: 'lost'; why: string }
  | { type: 'refused'; why: string }

/** Never rejects. */
export async function askServer(question: HookQuestion, clock: Clock): Promise<Asked> {
  const deadline = clock.mono() + question.limitMs
  let lostAt: number | null = null
  for (;;) {
    const left = Math.max(1, Math.floor(deadline - clock.mono()))
    const attempt = await tryOnce(question, left, clock)
    if (attempt.type === 'answer') return { answer: attempt.text }
    if (attempt.type === 'refused' || (attempt.type === 'dead' && lostAt === null)) return { failure: attempt.why }
    lostAt = attempt.type === 'lost' && attempt.why !== STARTING ? clock.mono() : (lostAt ?? clock.mono())
    const now = clock.mono()
    if (now - lostAt > RESTART_MS || deadline - now < RETRY_MS) return { failure: attempt.why }
    await new Promise<void>((resolve) => void clock.after(RETRY_MS, resolve, true))
  }
}

const STARTING = 'the server is starting'

function tryOnce({ url, token, host, body }: HookQuestion, limitMs: number, clock: Clock): Promise<Attempt> {
  return new Promise((resolve) => {
    const base = URL.parse(url())
    if (base === null) return resolve({ type: 'refused', why: 'the address of the server is not valid' })
    const send = base.protocol === 'https:' ? requestHttps : requestHttp
    const path = `${base.pathname.replace(/\/+$/, '')}/hooks/${host}?limit_ms=${limitMs}`
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    let asking: ClientRequest | null = null
    let accepted = false
    let stopTimer = () => {}
    const finish = (attempt: Attempt): void => {
      stopTimer()
      stopLimit()
      asking?.destroy()
      resolve(attempt)
    }
    const lostOrDead = (why: string): void => finish({ type: accepted ? 'lost' : 'dead', why })
    const expect = (ms: number, why: string): void => {
      stopTimer()
      stopTimer = clock.after(ms, () => finish({ type: 'refused', why }), true)
    }
    const stopLimit = clock.after(
      limitMs + GRACE_MS,
      () => finish({ type: 'refused', why: 'the server did not answer in time' }),
      true,
    )
    expect(Math.min(CONNECT_MS, limitMs + GRACE_MS), `the server at ${base.host} does not answer`)
    asking = send({
      protocol: base.protocol,
      hostname: base.hostname.replace(/^\[|\]$/g, ''),
      port: base.port,
      path,
      method: 'POST',
      headers,
    })
    asking.on('error', (error) => lostOrDead(`no server answers at ${base.host} (${codeOf(error)})`))
    asking.on('response', (response) => {
      const status = response.statusCode ?? 0
      if (status === 503) return finish({ type: 'lost', why: STARTING })
      accepted = status === 200
      const chunks: Buffer[] = []
      let size = 0
      const alive = () => expect(SILENCE_MS, 'the server has stopped answering')
      alive()
      response.on('data', (chunk: Buffer) => {
        alive()
        chunks.push(chunk)
        size += chunk.length
        if (size > LARGEST_ANSWER) finish({ type: 'refused', why: 'the answer of the server is too large' })
      })
      response.on('error', (error) => lostOrDead(`the connection to the server broke (${codeOf(error)})`))
      response.on('close', () => {
        const text = Buffer.concat(chunks).toString()
        if (!response.complete) return lostOrDead('the connection to the server broke')
        if (status === 200) return finish({ type: 'answer', text })
        finish({ type: 'refused', why: `the server answered ${status}${detailOf(text)}` })
      })
    })
    asking.end(body)
  })
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : error.message)

/** The server's own explanation, if it sent one. */
function detailOf(text: string): string {
  const problem = jsonIn(text)
  const detail = isRecord(problem) ? problem.detail : ''
  return typeof detail === 'string' && detail !== '' ? `: ${detail.slice(0, 1_000)}` : ''
}
