// How an HTTP exchange fails, still without a word about models: `failure.ts` gives it a meaning.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../domain/clock.ts'
import type { HttpAnswer } from './failure.ts'

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
  /** An answer had begun: what was sent is not known to be lost. */
  readonly begun: boolean
  readonly code: string | undefined
  constructor(cause: NodeJS.ErrnoException, begun: boolean) {
    super(cause.message, { cause })
    this.name = 'HttpConnectionError'
    this.begun = begun
    this.code = cause.code
  }
}

const MAX_ERROR_BODY = 64 * 1024
const ERROR_BODY_MS = 5_000

/** The beginning of a body that is worth reading for its error message. Never throws, never waits long. */
export function readBody(message: IncomingMessage, clock: Clock, first?: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = first === undefined ? [] : [first]
    let size = first?.length ?? 0
    const finish = () => {
      cancel()
      resolve(Buffer.concat(chunks).toString('utf8', 0, MAX_ERROR_BODY))
    }
    const cancel = clock.after(ERROR_BODY_MS, () => message.destroy())
    message.on('data', (bytes: Buffer) => {
      chunks.push(bytes)
      size += bytes.length
      if (size > MAX_ERROR_BODY) message.destroy()
    })
    message.on('error', () => {})
    message.once('close', finish)
  })
}
