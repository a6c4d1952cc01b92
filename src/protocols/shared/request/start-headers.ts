// What every POST that starts a run says beside its body: who asks, and the headers of a start.

import { createHash } from 'node:crypto'
import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import type { NewMessage, RunInput } from '../../../domain/session/run.ts'
import type { Starter, StartRequest } from '../../../engine/ports/runs.ts'
import { LONG_CHARS, LongText } from '../../../http/body/long-text.ts'
import type { Request } from '../../../http/route.ts'
import { starterOf } from './caller.ts'

/** The part of a `StartRequest` that is the same in every protocol. */
export type AskedStart = Starter & Pick<StartRequest, 'correlationId' | 'onBusy' | 'idempotency'>

/**
 * For `Runs.start`. Throws `invalid_request` for a header that cannot be used. `content` is what `Idempotency-Key` is bound to,
 * together with the path: the same words to another agent or session are another request.
 */
export function askedBy(
  request: Pick<Request, 'header' | 'path' | 'principal' | 'correlationId'>,
  content: unknown,
  path = request.path,
): AskedStart {
  return {
    correlationId: request.correlationId,
    ...starterOf(request.principal),
    onBusy: onBusyOf(request),
    idempotency: idempotencyOf(request, [path, content]),
  }
}

/** The input of a run that takes one message of a user. */
export const messageInput = ({ id, ...message }: Omit<NewMessage, 'role'>): RunInput => ({
  messages: [{ id, role: 'user', ...message }],
  instructions: [],
  context: [],
  clientTools: [],
})

/** What to do when the session is busy, for this request only. */
function onBusyOf(request: Pick<Request, 'header'>): StartRequest['onBusy'] | undefined {
  const value = request.header('x-on-busy')
  if (value === undefined) return undefined
  if (value === 'queue' || value === 'reject' || value === 'interrupt') return value
  throw headerProblem('X-On-Busy', 'Send queue, reject or interrupt, or leave the header out.')
}

function idempotencyOf(request: Pick<Request, 'header'>, content: unknown): StartRequest['idempotency'] | undefined {
  const key = request.header('idempotency-key')
  if (key === undefined) return undefined
  if (!/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(key)) {
    throw headerProblem('Idempotency-Key', 'Send 1 to 255 printable ASCII characters.')
  }
  return { key, digest: digestOf(content) }
}

const headerProblem = (name: string, detail: string): ServerError =>
  new ServerError('invalid_request', `The header ${name} cannot be used. ${detail}`, {
    problems: [{ pointer: name, detail }],
  })

/**
 * SHA-256 of a JSON value. The order of keys does not matter. Long texts are files and are replaced by their own hash: writing them
 * again would cost far more, and not all of them are in memory.
 */
export const digestOf = (value: unknown): string => sha256(JSON.stringify(value, plain))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONG_CHARS ? `sha256:${sha256(value)}` : value
  if (value instanceof LongText) return `sha256:${value.sha256}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The same headers and `Last-Event-ID`, for the OpenAPI document. */
export const startHeaderSchemas = {
  'Idempotency-Key': z
    .string()
    .regex(/^[\x21-\x7e][\x20-\x7e]{0,254}$/)
    .optional()
    .describe('For 24 hours, the same key and body never start a second run.'),
  'X-On-Busy': z
    .enum(['queue', 'reject', 'interrupt'])
    .optional()
    .describe('What to do when the session is busy, for this request only.'),
  'Last-Event-ID': z
    .string()
    .optional()
    .describe('An `id:` of an earlier stream. Starts no run, and continues its run after that event.'),
} as const
