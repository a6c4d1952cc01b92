// The headers that a POST which starts work may carry, whatever its door.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { StartRequest } from '../../../engine/ports/runs.ts'
import { LONG_CHARS, LongText } from '../../../http/body/long-text.ts'
import type { Request } from '../../../http/route.ts'

export type OnBusy = NonNullable<StartRequest['onBusy']>

/** `X-On-Busy`: what to do when the session is busy, for this request only. */
export function onBusyOf(request: Pick<Request, 'header'>): OnBusy | undefined {
  const value = request.header('x-on-busy')
  if (value === undefined) return undefined
  if (value === 'queue' || value === 'reject' || value === 'interrupt') return value
  throw headerProblem('X-On-Busy', 'Send queue, reject or interrupt, or leave the header out.')
}

/**
 * `Idempotency-Key`, bound to what it was sent with. The path is part of it: the same words to another agent or another
 * session are another request.
 */
export function idempotencyOf(
  request: Pick<Request, 'header' | 'path'>,
  body: unknown,
  path = request.path,
): StartRequest['idempotency'] | undefined {
  const key = request.header('idempotency-key')
  if (key === undefined) return undefined
  if (!/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(key)) {
    throw headerProblem('Idempotency-Key', 'Send 1 to 255 printable ASCII characters.')
  }
  return { key, digest: digestOf([path, body]) }
}

const headerProblem = (name: string, detail: string): ServerError =>
  new ServerError('invalid_request', `The header ${name} cannot be used. ${detail}`, {
    problems: [{ pointer: name, detail }],
  })

/**
 * SHA-256 of a JSON value; the order of an object's keys does not matter. Long texts are files. They stand for themselves by their
 * own hash: to write all of them anew costs far more, and not all are in memory.
 */
export const digestOf = (value: unknown): string => sha256(JSON.stringify(value, plain))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONG_CHARS ? `sha256:${sha256(value)}` : value
  if (value instanceof LongText) return `sha256:${value.sha256}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** For the document: the headers that `start-headers.ts` reads, and `Last-Event-ID`. */
export const startHeaderSchemas = {
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{0,254}$/)
    .optional()
    .describe('The same key and body never start a second run, for 24 hours.'),
  'X-On-Busy': z
    .enum(['queue', 'reject', 'interrupt'])
    .optional()
    .describe('What to do when the session is busy, for this request only.'),
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('An `id:` of an earlier stream: starts nothing, goes on behind that event of its run.'),
} as const
