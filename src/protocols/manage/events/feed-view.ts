import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { recordKinds, wireStatus } from '../../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Look } from '../../../supervision/inbox/who-looks.ts'
import { type EventId, parseEventId } from '../../shared/events/event-id.ts'
import type { FeedTaken } from './schema.ts'

// One cursor over the feed and the named sessions: `f.<n>`, and behind it an event id for each session, separated by commas. Clients
// need not know this. They send a cursor back as it came.

export interface Cursor {
  /** Number of the last item of the feed that was seen. */
  feed: number
  /** The last event that was seen of each session; seq 0 when none was. */
  sessions: readonly EventId[]
}

/** The most sessions that a cursor can name. */
export const MAX_SESSIONS = 8

export const feedId = (n: number): string => `f.${n}`

/** Throws `malformed_id`. */
export function parseCursor(text: string): Cursor {
  const [first = '', ...rest] = text.split(',', MAX_SESSIONS + 2)
  const number = /^f\.(0|[1-9]\d{0,14})$/.exec(first)?.[1]
  if (number === undefined || rest.length > MAX_SESSIONS) throw malformedCursor(text)
  try {
    return { feed: Number(number), sessions: rest.map(parseEventId) }
  } catch {
    throw malformedCursor(text)
  }
}

const malformedCursor = (text: string): ServerError =>
  new ServerError(
    'malformed_id',
    `${JSON.stringify(text.slice(0, 80))} is not a cursor of the feed. Send one back exactly as it came in an \`id:\` line.`,
  )

export const takenView = ({ name, at }: Look): FeedTaken['items'][number]['taken_by'] => ({ name, at: isoTime(at) })

/** An item of the feed as it is sent. It never holds what people, agents or tools said. */
export function feedView(item: FeedItem) {
  const { sessionId: session_id, owner, agent, status } = item
  const head = { type: 'feed', id: feedId(item.n), at: isoTime(item.at) }
  const subject = { session_id, owner, agent, status }
  switch (item.kind) {
    case 'session':
      return { ...head, kind: item.kind, ...subject }
    case 'run':
      return { ...head, kind: item.kind, run_id: item.id, parent_run_id: item.parentRunId, ...subject }
    case 'wait': {
      const { kind, id } = recordKinds[item.type].wire
      return { ...head, kind, [id]: item.id, risk: item.risk, ...subject, status: wireStatus(item.type, item.status) }
    }
    default:
      return unreachable(item)
  }
}
