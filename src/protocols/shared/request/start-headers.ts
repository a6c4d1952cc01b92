// The headers that a POST which starts work may carry, whatever its door.

import { ServerError } from '../../../domain/errors.ts'
import type { StartRequest } from '../../../engine/ports/runs.ts'
import type { Request } from '../../../http/route.ts'
import { digestOf } from './digest.ts'

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
