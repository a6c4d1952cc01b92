import { isoTime } from '../../../domain/clock.ts'
import type { FeedItem } from '../../../domain/feed.ts'
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
    case 'wait':
      return { ...head, ...standbyView(item), risk: item.risk, ...subject, ...waitStatus(item) }
    default:
      return unreachable(item)
  }
}

type WaitItem = Extract<FeedItem, { kind: 'wait' }>

function standbyView({ type, id }: WaitItem) {
  switch (type) {
    case 'approval':
      return { kind: type, approval_id: id }
    case 'prompt':
      return { kind: type, prompt_id: id }
    case 'standby':
      return { kind: 'wait', wait_id: id }
    case 'alert':
      return { kind: type, alert_id: id }
    default:
      return unreachable(type)
  }
}

/** An agent that stands by is `waiting`: only questions are `pending`. */
const waitStatus = ({ type, status }: WaitItem) => ({
  status: type === 'standby' && status === 'pending' ? 'waiting' : status,
})
