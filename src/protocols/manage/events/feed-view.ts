import { isoTime } from '../../../domain/clock.ts'
import { recordKinds, wireStatus } from '../../../domain/records/record-kinds.ts'
import type { FeedItem } from '../../../domain/session/feed.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { feedId } from './cursor.ts'

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
