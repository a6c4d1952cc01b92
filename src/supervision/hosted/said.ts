// What the program of a hosted agent says, in its order, for the run that takes it. While no run does, it is kept, and when there is too
// much of it the program has to wait: nothing is lost, and nothing grows.

import type { SessionUpdate, StopReason } from '@agentclientprotocol/sdk'
import type { OpenRequest } from './open-request.ts'

export type Said =
  | { type: 'update'; update: SessionUpdate }
  | { type: 'request'; request: OpenRequest }
  /** The prompt has ended. */
  | { type: 'stopped'; reason: StopReason }
  /** The prompt has failed, or the program is gone. */
  | { type: 'failed'; error: Error }

/** As much is kept while nobody listens: CONTRACTS §10. */
const MOST_BYTES = 1_000_000

export interface SaidQueue {
  push(said: Said, bytes: number): void
  readonly size: number
  /** The next one, or null if there is none yet. */
  take(): Said | null
  /** Resolves when there is one, or when the signal aborts. */
  ready(signal: AbortSignal): Promise<void>
  /** Resolves when the program may say more. */
  room(): Promise<void>
}

export function createSaidQueue(): SaidQueue {
  const waiting: { said: Said; bytes: number }[] = []
  let bytes = 0
  let wakeReader = () => {}
  let wakeWriter = () => {}
  return {
    push(said, size) {
      waiting.push({ said, bytes: size })
      bytes += size
      wakeReader()
    },
    get size() {
      return waiting.length
    },
    take() {
      const next = waiting.shift()
      if (next === undefined) return null
      bytes -= next.bytes
      if (bytes < MOST_BYTES) wakeWriter()
      return next.said
    },
    ready: (signal) =>
      new Promise((resolve) => {
        if (waiting.length > 0 || signal.aborted) return resolve()
        const done = () => {
          signal.removeEventListener('abort', done)
          wakeReader = () => {}
          resolve()
        }
        signal.addEventListener('abort', done, { once: true })
        wakeReader = done
      }),
    room: () =>
      new Promise((resolve) => {
        if (bytes < MOST_BYTES) return resolve()
        wakeWriter = () => {
          wakeWriter = () => {}
          resolve()
        }
      }),
  }
}
