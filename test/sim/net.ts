// The network between clients and the server: requests, answers that get lost, streams that break when the process dies.

import { ServerError } from '../../src/domain/errors.ts'
import type { Entry } from '../../src/domain/session/entry.ts'
import type { FollowTarget } from '../../src/engine/ports/runs.ts'
import type { Serving } from './assemble.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { Kernel } from './kernel.ts'
import type { Random } from './random.ts'
import type { Server } from './server.ts'

/** `refused`: nobody listens. `lost`: no answer came. Otherwise a code of the server. */
export type Reply<T> = { ok: true; value: T } | { ok: false; code: string }

export type StreamItem =
  | { type: 'batch'; entries: readonly Entry[] }
  | { type: 'end' }
  | { type: 'failed'; code: string }
  | { type: 'lost' }

export interface Connection {
  /** Call again only when the last one came back. */
  receive(): Promise<StreamItem>
  close(): void
}

export interface Net {
  request<T>(label: string, work: (serving: Serving) => Promise<T>): Promise<Reply<T>>
  follow(label: string, target: FollowTarget): Connection
  /** The streams that the server keeps open. */
  readonly streams: ReadonlySet<OpenStream>
}

export interface OpenStream {
  label: string
  target: FollowTarget
  serving: Serving
  /** Last seq that the server sent. */
  position: number
  /** Since when the server has had nothing to send; null while the reader holds it up. */
  idleSince: number | null
}

export interface NetDeps {
  kernel: Kernel
  random: Random
  faults: Faults['net']
  server: Server
  history: History
  isCalm: () => boolean
}

/** Batches on their way that the reader has not taken; then the server waits. */
const WINDOW = 4

export function createNet({ kernel, random, faults, server, history, isCalm }: NetDeps): Net {
  const streams = new Set<OpenStream>()
  const way = () => random.float() * faults.ms

  function codeOf(error: unknown, label: string): string {
    if (error instanceof ServerError) return error.code
    history.findings.push({ checker: 'bug', message: `${label} threw ${error instanceof Error ? error.stack : error}` })
    return 'internal_error'
  }

  async function request<T>(label: string, work: (serving: Serving) => Promise<T>): Promise<Reply<T>> {
    await kernel.sleep(way())
    const { serving } = server
    if (serving === null) return { ok: false, code: 'refused' }
    const isLost = !isCalm() && random.chance(faults.lostAnswer)
    kernel.trace(`> ${label}`)
    return new Promise((resolve) => {
      let isAnswered = false
      const answer = (reply: Reply<T>) => {
        if (isAnswered) return
        isAnswered = true
        kernel.trace(`< ${label} ${isLost ? 'lost' : reply.ok ? 'ok' : reply.code}`)
        kernel.after(way(), () => resolve(isLost ? { ok: false, code: 'lost' } : reply))
      }
      serving.process.onDeath(() => answer({ ok: false, code: 'lost' }))
      work(serving).then(
        (value) => {
          if (serving.process.alive) answer({ ok: true, value })
        },
        (error: unknown) => {
          if (serving.process.alive) answer({ ok: false, code: codeOf(error, label) })
        },
      )
    })
  }

  function follow(label: string, target: FollowTarget): Connection {
    const gone = new AbortController()
    const onTheWay: StreamItem[] = []
    const inbox: StreamItem[] = []
    let isMoving = false
    let isOver = false
    let take: ((item: StreamItem) => void) | null = null
    let writable: (() => void) | null = null

    // One after the other: a connection does not change the order of what it carries.
    function move(): void {
      if (isMoving || onTheWay.length === 0) return
      isMoving = true
      kernel.after(way(), () => {
        isMoving = false
        const item = onTheWay.shift()
        if (item === undefined || gone.signal.aborted) return
        if (take === null) inbox.push(item)
        else {
          const hand = take
          take = null
          hand(item)
          takeMore()
        }
        move()
      })
    }

    function takeMore(): void {
      writable?.()
      writable = null
    }

    function put(item: StreamItem): void {
      if (isOver) return
      if (item.type !== 'batch') isOver = true
      onTheWay.push(item)
      move()
    }

    async function serve(): Promise<void> {
      await kernel.sleep(way())
      const { serving } = server
      if (serving === null || gone.signal.aborted) return put({ type: 'failed', code: 'refused' })
      const stream: OpenStream = { label, target, serving, position: target.after, idleSince: kernel.time }
      streams.add(stream)
      const { sessionId, runId = null } = target
      const record = { label, sessionId, runId, from: kernel.time, to: Number.POSITIVE_INFINITY }
      history.streams.push(record)
      gone.signal.addEventListener('abort', () => {
        record.to = Math.min(record.to, kernel.time)
      })
      kernel.trace(`> ${label} after ${target.after}`)
      serving.process.onDeath(() => {
        streams.delete(stream)
        record.to = Math.min(record.to, kernel.time)
        // Some of what was sent last may never arrive, and its end neither.
        const arriving = random.below(onTheWay.length + 1)
        if (isOver && arriving === onTheWay.length) return
        const cut = onTheWay[arriving]
        onTheWay.length = arriving
        if (cut?.type === 'batch') {
          onTheWay.push({ ...cut, entries: cut.entries.slice(0, random.below(cut.entries.length + 1)) })
        }
        isOver = false
        put({ type: 'lost' })
      })
      try {
        for await (const entries of serving.engine.runs.follow(target, gone.signal)) {
          stream.idleSince = null
          stream.position = entries.at(-1)?.seq ?? stream.position
          checkBatch(label, entries)
          kernel.trace(`~ ${label} ${nameEntries(entries)}`)
          // What is on the wire is a copy, as bytes are: the engine empties a large batch when it is asked for the next.
          put({ type: 'batch', entries: [...entries] })
          while (onTheWay.length + inbox.length >= WINDOW && !gone.signal.aborted) {
            await new Promise<void>((resolve) => {
              writable = resolve
            })
          }
          if (!serving.process.alive) return
          stream.idleSince = kernel.time
        }
        put({ type: 'end' })
      } catch (error) {
        put({ type: 'failed', code: codeOf(error, label) })
      }
      streams.delete(stream)
      record.to = Math.min(record.to, kernel.time)
    }

    /** A reader that does not read costs a bounded buffer and one event. */
    function checkBatch(name: string, entries: readonly Entry[]): void {
      const sizes = entries.map(({ data }) => data.length)
      const bytes = sizes.reduce((sum, size) => sum + size, 0)
      if (bytes <= BUFFER_BYTES + Math.max(...sizes)) return
      const message = `${name} was held ${entries.length} entries of ${bytes} bytes in memory`
      history.findings.push({ checker: 'memory', message })
    }

    void serve()
    return {
      receive: () =>
        new Promise((resolve) => {
          const item = inbox.shift()
          if (item === undefined) take = resolve
          else resolve(item)
          takeMore()
        }),
      close() {
        gone.abort()
        takeMore()
      },
    }
  }

  return { request, follow, streams }
}

const BUFFER_BYTES = 256 * 1024

function nameEntries(entries: readonly Entry[]): string {
  const names = entries.slice(0, 6).map(({ seq, data }) => `${seq}:${data.slice(9, data.indexOf('"', 9))}`)
  return entries.length <= 6 ? names.join(' ') : `${names.join(' ')} … ${entries.at(-1)?.seq}`
}
