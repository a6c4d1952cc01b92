import { isoTime } from '../../../domain/clock.ts'
import type { PersonWait } from '../../../domain/feed.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { approvalView } from '../approvals/encode.ts'
import { alertView, promptView, waitView } from '../supervision/encode.ts'

/** One item of the inbox: what all kinds have, and the record itself under the name of its kind. */
export function itemView(item: PersonWait) {
  const shared = {
    id: item.id,
    session_id: item.sessionId,
    owner: item.owner,
    agent: item.agent,
    created_at: isoTime(item.createdAt),
    expires_at: item.expiresAt === null ? null : isoTime(item.expiresAt),
  }
  switch (item.wait) {
    case 'approval':
      return { ...shared, kind: 'approval' as const, approval: approvalView(item) }
    case 'prompt':
      return { ...shared, kind: 'prompt' as const, prompt: promptView(item) }
    case 'instruction':
      return { ...shared, kind: 'wait' as const, wait: waitView(item) }
    case 'alert':
      return { ...shared, kind: 'alert' as const, alert: alertView(item) }
    default:
      return unreachable(item)
  }
}
