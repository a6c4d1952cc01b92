// How an HTTP exchange fails. Knows nothing about models: `failure.ts` turns these errors into our codes.

import type { Clock } from '../../domain/clock.ts'
import { ConnectionFailure } from '../../outgoing/connection-failure.ts'

export interface HttpAnswer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string
}

export class HttpStatusError extends Error {
  readonly answer: HttpAnswer
  constructor(answer: HttpAnswer) {
    super(`status ${answer.status}`)
    this.name = 'HttpStatusError'
    this.answer = answer
  }
}

export class HttpContentError extends Error {
  readonly answer: HttpAnswer
  constructor(answer: HttpAnswer) {
    super('not an event stream')
    this.name = 'HttpContentError'
    this.answer = answer
  }
}

export class HttpConnectionError extends Error {
  /** The answer had begun. */
  readonly begun: boolean
  readonly code: string | undefined
  /** The proxy that was used, without its password. */
  readonly proxy: string | null
  readonly connectTimeoutMs: number | null
  /** Host and port of the server. */
  readonly address: string | null
  constructor(cause: NodeJS.ErrnoException, begun: boolean) {
    super(cause.message, { cause })
    this.name = 'HttpConnectionError'
    this.begun = begun
    this.code = cause.code
    const known = cause instanceof ConnectionFailure ? cause : null
    this.proxy = known?.proxy ?? null
    this.connectTimeoutMs = known?.connectTimeoutMs ?? null
    this.address = known?.address ?? null
  }
}

const MAX_ERROR_BODY = 64 * 1024
const ERROR_BODY_MS = 5_000

/** Receives the body of an answer. */
export interface BodyTaker {
  body(bytes: Buffer): void
  end(): void
  /** The connection broke before the end. */
  lost(error: NodeJS.ErrnoException): void
}

/** Calls `done` once, with the beginning of a body that may hold an error message. Never waits long. */
export function collectBody(clock: Clock, done: (body: string) => void): BodyTaker & { cancel(): void } {
  const pieces: Buffer[] = []
  let size = 0
  let isDone = false
  const finish = () => {
    if (isDone) return
    isDone = true
    cancel()
    done(Buffer.concat(pieces).toString('utf8', 0, MAX_ERROR_BODY))
  }
  const cancel = clock.after(ERROR_BODY_MS, finish)
  return {
    body(bytes) {
      if (isDone) return
      pieces.push(bytes)
      size += bytes.length
      if (size > MAX_ERROR_BODY) finish()
    },
    end: finish,
    lost: finish,
    cancel,
  }
}
