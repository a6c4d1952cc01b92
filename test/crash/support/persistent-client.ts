// A client that does not give up until its message is answered. It resends what was not acknowledged, resumes what broke off, and
// keeps every event that it has seen.

import { hydration, runInput } from './run-input.ts'
import { type Frame, isTerminal, record } from './sse-recorder.ts'

export interface ClientPlan {
  /** `stream`: an AG-UI request that is read live. `background`: a message that is taken with 202, then watched. */
  kind: 'stream' | 'background'
  threadId: string
  /** Unique. Names the run and the message if the client may choose. */
  name: string
}

export interface PersistentClient {
  readonly plan: ClientPlan
  /** Whether the server has acknowledged the message. */
  readonly acknowledged: boolean
  /** Whether it has seen the run's last event. */
  readonly ended: boolean
  /** Every event that was seen, in order of arrival. */
  readonly frames: readonly Frame[]
  /** Events without an id: made for this reader alone, not part of the run. */
  readonly notices: readonly Frame[]
  readonly reconnects: number
  /** When the last event of the run came, by `performance.now`. */
  readonly endedAt: number
  /** Goes on from where it was. Resolves when the run has ended or the connection broke. Throws for a refusal. */
  go(url: string): Promise<void>
  /** All events of the run as the log has them now. */
  replay(url: string): Promise<Frame[]>
  /** After the end: everything that is wrong with what the server has stored. */
  faults(url: string): Promise<string[]>
}

export function createPersistentClient(plan: ClientPlan): PersistentClient {
  const { kind, threadId, name } = plan
  const text = `What about ${name}?`
  const key = `key-${name}`
  const path = kind === 'stream' ? '/' : `/sessions/${threadId}/messages`
  const body = kind === 'stream' ? runInput(threadId, name, text) : { message: text }
  const frames: Frame[] = []
  const notices: Frame[] = []
  let taken: { run_id: string; message_id: string } | null = null
  let reconnects = 0
  let endedAt = 0

  const ended = () => frames.some(isTerminal)
  const runId = () => (kind === 'stream' ? name : taken?.run_id)
  const onFrame = (frame: Frame) => {
    if (frame.id === null) {
      notices.push(frame)
      return
    }
    frames.push(frame)
    if (isTerminal(frame)) endedAt = performance.now()
  }

  async function send(url: string, more: { body?: unknown; headers?: Record<string, string> } = {}) {
    const headers = { 'Idempotency-Key': key, ...more.headers }
    return await record({ url: url + path, method: 'POST', body: more.body ?? body, headers }).done
  }

  async function watch(url: string): Promise<void> {
    const lastId = frames.at(-1)?.id
    if (lastId != null) reconnects += 1
    const headers: Record<string, string> = lastId == null ? {} : { 'Last-Event-ID': lastId }
    const { status, body: refusal } = await record(
      kind === 'stream'
        ? { url: url + path, method: 'POST', body, headers: { 'Idempotency-Key': key, ...headers }, onFrame }
        : { url: `${url}/runs/${runId()}/events`, headers, onFrame },
    ).done
    if (status !== null && status !== 200) throw new Error(`${name} was refused with ${status}: ${refusal}`)
  }

  async function replay(url: string): Promise<Frame[]> {
    return (await record({ url: `${url}/runs/${runId()}/events` }).done).frames
  }

  return {
    plan,
    frames,
    notices,
    get acknowledged() {
      return kind === 'stream' ? frames.length > 0 : taken !== null
    },
    get ended() {
      return ended()
    },
    get reconnects() {
      return reconnects
    },
    get endedAt() {
      return endedAt
    },

    async go(url) {
      if (kind === 'background' && taken === null) {
        const { status, body: answer, complete } = await send(url)
        if (!complete) return
        if (status !== 202) throw new Error(`${name} was refused with ${status}: ${answer}`)
        taken = JSON.parse(answer)
      }
      if (!ended()) await watch(url)
    },

    replay,

    async faults(url) {
      const faults: string[] = []
      const log = await replay(url)
      if (JSON.stringify(log) !== JSON.stringify(frames)) {
        faults.push(`${name}: saw ${describe(frames)}, the log has ${describe(log)}`)
      }
      const seqs = frames.map(({ id }) => Number(id?.split('.')[1]))
      if (!seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] ?? 0))) faults.push(`${name}: the ids do not rise`)
      if (frames.filter(isTerminal).length !== 1) faults.push(`${name}: has not exactly one end`)

      const { frames: snapshot } = await record({ url, method: 'POST', body: hydration(threadId) }).done
      // After the first snapshot the run goes on and may show its messages again.
      const shown = snapshot.find(({ data }) => data.startsWith('{"type":"MESSAGES_SNAPSHOT"'))?.data ?? ''
      const count = shown.split(JSON.stringify(text)).length - 1
      if (count !== 1) faults.push(`${name}: its message is in the session ${count} times`)

      const other = kind === 'stream' ? runInput(threadId, name, `${text}!`) : { message: `${text}!` }
      const clash = await send(url, { body: other })
      if (clash.status !== 422) faults.push(`${name}: another body under its key got ${clash.status}`)
      const again = await send(url)
      const same = kind === 'stream' ? JSON.stringify(again.frames) === JSON.stringify(log) : sameRun(again.body, taken)
      if (!same) faults.push(`${name}: sent again it got ${again.status} ${again.body}`)
      return faults
    },
  }
}

const sameRun = (body: string, taken: unknown): boolean => JSON.stringify(JSON.parse(body)) === JSON.stringify(taken)

function describe(frames: readonly Frame[]): string {
  const ids = frames.map(({ id }) => id?.split('.')[1]).join(' ')
  return `${frames.length} events (${ids.length > 400 ? `${ids.slice(0, 200)} … ${ids.slice(-200)}` : ids})`
}
