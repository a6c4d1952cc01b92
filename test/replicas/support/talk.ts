// One message, from the first try to send it until its answer is complete. Whoever sends it never gives up: it repeats the request with
// the same key, reads on where it was at whichever replica the proxy picks, and keeps everything that it sees.

import { setTimeout as pause } from 'node:timers/promises'
import { OPERATOR_TOKEN } from '../../crash/support/operator.ts'
import { runInput } from '../../crash/support/run-input.ts'
import { type Frame, isTerminal, type Recording, type RecordOptions, record } from '../../crash/support/sse-recorder.ts'

export type Kind = 'ag-ui' | 'background' | 'thread' | 'completions' | 'charge' | 'pay'
export const kinds: readonly [Kind, ...Kind[]] = ['ag-ui', 'background', 'thread', 'completions', 'charge', 'pay']

/** A stream that one client has read, and how to get it from its beginning. */
export interface View {
  readonly name: string
  readonly frames: readonly Frame[]
  readonly again: RecordOptions
}

export interface Talk {
  readonly name: string
  readonly kind: Kind
  readonly text: string
  /** As the client calls it. */
  readonly session: string
  /** Whether the server has said that it has the message. */
  readonly acknowledged: boolean
  readonly ended: boolean
  /** When the last frame came, and the first after each gap: by `performance.now`. */
  readonly heard: readonly number[]
  readonly views: readonly View[]
  /** The code of the error that ended it. */
  readonly failure: string | null
  readonly reconnects: number
  readonly refusals: number
  /** What no server may do, whatever happens to it. */
  readonly faults: readonly string[]
  /** Resolves when the answer is complete. */
  run(): Promise<void>
}

/** A server that sends nothing for so long is left, and the proxy picks another one. */
const SILENCE_MS = 12_000
const AGAIN_MS = 150

const operator = { Authorization: `Bearer ${OPERATOR_TOKEN}` }

interface Stream {
  name: string
  /** How it is asked for. With Last-Event-ID nothing new starts. */
  ask: RecordOptions
  isEnd(frame: Frame): boolean
}

export function createTalk({ url, name, kind }: { url: string; name: string; kind: Kind }): Talk {
  let session: string = crypto.randomUUID()
  const text = `Please ${kind === 'charge' || kind === 'pay' ? kind : 'tell me'} about ${name}.`
  const headers = { 'Idempotency-Key': `key-${name}` }
  const heard: number[] = []
  const views: (View & { frames: Frame[] })[] = []
  const faults: string[] = []
  let acknowledged = false
  let ended = false
  let reconnects = 0
  let refusals = 0

  /** Null: no answer, or one that says to come again. */
  async function attempt(ask: RecordOptions): Promise<Recording | null> {
    let last = performance.now()
    const recorder = record({
      ...ask,
      onFrame(frame) {
        last = performance.now()
        ask.onFrame?.(frame)
      },
    })
    const watch = setInterval(() => {
      if (performance.now() - last > SILENCE_MS) recorder.close()
    }, 500)
    const recording = await recorder.done.finally(() => clearInterval(watch))
    const { status, headers: answered, body } = recording
    if (status === 503 || status === 507 || status === 429) {
      refusals += 1
      if (answered['retry-after'] === undefined) faults.push(`${name}: ${status} without Retry-After: ${body}`)
      await pause(AGAIN_MS * 3)
      return null
    }
    if (status === null) {
      await pause(AGAIN_MS)
      return null
    }
    if (status >= 500) faults.push(`${name}: ${ask.method ?? 'GET'} ${ask.url} got ${status} ${body}`)
    return recording
  }

  /** A whole answer that is not a stream. */
  async function ask(options: RecordOptions, isExpected: (status: number) => boolean): Promise<Recording> {
    for (;;) {
      const recording = await attempt(options)
      if (recording === null || !recording.complete) continue
      if (isExpected(recording.status ?? 0)) return recording
      throw new Error(`${name}: ${options.method ?? 'GET'} ${options.url} got ${recording.status} ${recording.body}`)
    }
  }

  /** Reads a stream to its end, over as many connections as that takes. */
  async function follow({ name: of, ask: first, isEnd }: Stream): Promise<readonly Frame[]> {
    const frames: Frame[] = []
    views.push({ name: of, frames, again: first })
    const onFrame = (frame: Frame) => {
      acknowledged = true
      heard.push(performance.now())
      // Without an id: made for this reader alone.
      if (frame.id !== null) frames.push(frame)
    }
    while (!frames.some(isEnd)) {
      const lastId = frames.at(-1)?.id
      if (lastId != null) reconnects += 1
      const more: Record<string, string> = lastId == null ? {} : { 'Last-Event-ID': lastId }
      const got = await attempt({ ...first, headers: { ...first.headers, ...more }, onFrame })
      if (got === null || got.status === 200) {
        // A server that drains ends its streams in good order.
        if (got?.complete === false) await pause(AGAIN_MS)
        continue
      }
      throw new Error(`${name}: ${of} got ${got.status} ${got.body} after ${frames.length} frames`)
    }
    return frames
  }

  const agUi = (): Stream => ({
    name: `${name} at /`,
    ask: { url: `${url}/`, method: 'POST', headers, body: runInput(session, name, text) },
    isEnd: isTerminal,
  })

  async function inBackground(): Promise<void> {
    const body = { message: text }
    const taken = await ask(
      { url: `${url}/sessions/${session}/messages`, method: 'POST', headers, body },
      (status) => status === 202,
    )
    acknowledged = true
    const { run_id }: { run_id: string } = JSON.parse(taken.body)
    await follow({ name: `${name} in the background`, ask: { url: `${url}/runs/${run_id}/events` }, isEnd: isTerminal })
  }

  async function withApproval(): Promise<void> {
    const asked = await follow(agUi())
    const { outcome }: { outcome?: { type: string; interrupts?: { id: string }[] } } = JSON.parse(
      asked.findLast(isTerminal)?.data ?? '{}',
    )
    // A run that dies twice ends with an error, and asks nothing.
    if (outcome?.type !== 'interrupt') return
    const approval = `${url}/approvals/${outcome.interrupts?.[0]?.id}`
    const decision = { decision: 'approve', reason: 'for a test' }
    // 409: it was decided by a request whose answer was lost.
    const isDecided = (status: number) => status === 200 || status === 409
    await ask({ url: approval, method: 'POST', headers: operator, body: decision }, isDecided)
    const { body } = await ask({ url: approval, headers: operator }, (status) => status === 200)
    const { continuation_run_id }: { continuation_run_id: string | null } = JSON.parse(body)
    if (continuation_run_id === null) throw new Error(`${name}: nothing continues after the yes: ${body}`)
    const events = { url: `${url}/runs/${continuation_run_id}/events` }
    await follow({ name: `${name} after the yes`, ask: events, isEnd: isTerminal })
  }

  const talks: Record<Kind, () => Promise<unknown>> = {
    'ag-ui': () => follow(agUi()),
    charge: () => follow(agUi()),
    background: inBackground,
    pay: withApproval,
    async thread() {
      const [first] = await follow({
        name: `${name} at /chat`,
        ask: { url: `${url}/chat`, method: 'POST', headers, body: { message: text, stream: true } },
        isEnd: ({ data }) => /"event":"(?:message_complete|error)"/.test(data),
      })
      session = JSON.parse(first?.data ?? '{}').thread_id
    },
    completions: () =>
      follow({
        name: `${name} at /v1/chat/completions`,
        ask: {
          url: `${url}/v1/chat/completions`,
          method: 'POST',
          headers: { ...headers, 'X-Session-Id': session },
          body: { model: 'crash', stream: true, messages: [{ role: 'user', content: text }] },
        },
        isEnd: ({ data }) => data === '[DONE]',
      }),
  }

  return {
    ...{ name, kind, text, heard, views, faults },
    get session() {
      return session
    },
    get acknowledged() {
      return acknowledged
    },
    get ended() {
      return ended
    },
    get failure() {
      const last = views.at(-1)?.frames.findLast(({ data }) => data !== '[DONE]')?.data ?? '{}'
      const { code, error_type, error } = JSON.parse(last)
      return code ?? error_type ?? error?.code ?? null
    },
    get reconnects() {
      return reconnects
    },
    get refusals() {
      return refusals
    },
    async run() {
      try {
        await talks[kind]()
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error))
      }
      ended = true
    },
  }
}
