import { isoTime } from '../../../domain/clock.ts'
import type { PersonRecord } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { approvalView } from '../approvals/encode.ts'
import type { View } from '../records/schema.ts'
import { alertView, promptView, standbyView } from '../supervision/encode.ts'

interface ItemLook {
  view: View
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked: boolean
}

/** One item of the inbox: what all kinds have, and the record itself under the name of its kind. */
export function itemView(item: PersonRecord, { view, isMasked }: ItemLook) {
  const shared = {
    id: item.id,
    session_id: item.sessionId,
    owner: item.owner,
    agent: item.agent,
    title: 'title' in item ? item.title : `${view.title} ${view.gist}`.trimEnd(),
    status: item.wait === 'standby' && item.status === 'pending' ? ('waiting' as const) : item.status,
    risk: item.wait === 'approval' ? item.risk : null,
    tool: item.wait === 'approval' ? item.tool : null,
    host: item.supervised?.host ?? null,
    session_title: view.session.title,
    created_at: isoTime(item.createdAt),
    expires_at: item.expiresAt === null ? null : isoTime(item.expiresAt),
    decided_at: item.decidedAt === null ? null : isoTime(item.decidedAt),
    decided_by: item.decidedBy,
    decided_channel: item.decidedVia ?? null,
    view,
  }
  switch (item.wait) {
    case 'approval':
      return { ...shared, kind: 'approval' as const, approval: approvalView(item, { isMasked }) }
    case 'prompt':
      return { ...shared, kind: 'prompt' as const, prompt: promptView(item) }
    case 'standby':
      return { ...shared, kind: 'wait' as const, wait: standbyView(item) }
    case 'alert':
      return { ...shared, kind: 'alert' as const, alert: alertView(item) }
    default:
      return unreachable(item)
  }
}
