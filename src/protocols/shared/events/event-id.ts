// The id of a log entry on the wire, `<session ULID>.<seq>`: the SSE `id:`, `Last-Event-ID` and `after=`.

import { ServerError } from '../../../domain/errors.ts'
import { parseUuid, ulidOf } from '../../../domain/ids.ts'

export interface EventId {
  /** Canonical UUID. */
  sessionId: string
  seq: number
}

export const formatEventId = ({ sessionId, seq }: EventId): string => `${ulidOf(sessionId)}.${seq}`

/** Throws `malformed_id`. The session may be spelled as a UUID, too. */
export function parseEventId(text: string): EventId {
  const dot = text.lastIndexOf('.')
  const sessionId = dot < 0 ? null : parseUuid(text.slice(0, dot))
  const seq = parseSeq(text.slice(dot + 1))
  if (sessionId === null || seq === null) throw malformedEventId(text)
  return { sessionId, seq }
}

/** Like `parseEventId`, but a bare number counts as an id of this session. */
export function parseCursor(text: string, sessionId: string): EventId {
  const seq = parseSeq(text)
  return seq === null ? parseEventId(text) : { sessionId, seq }
}

function parseSeq(text: string): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null
  const seq = Number(text)
  return Number.isSafeInteger(seq) ? seq : null
}

const malformedEventId = (text: string): ServerError =>
  new ServerError(
    'malformed_id',
    `${JSON.stringify(text.slice(0, 80))} is no event id. Send one back exactly as it came in an \`id:\` line, like 01J9ZQ3V6K8R2T4Y7B5N0M1C3D.42.`,
  )
