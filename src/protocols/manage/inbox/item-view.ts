import { isoTime } from '../../../domain/clock.ts'
import type { PersonRecord } from '../../../domain/records/record.ts'
import { recordKinds, wireStatus } from '../../../domain/records/record-kinds.ts'
import { encodeRecord } from '../records/encode-record.ts'
import type { RecordView } from '../records/schema.ts'
import type { InboxItem } from './schema.ts'

interface ItemLook {
  view: RecordView
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked: boolean
}

/** One item of the inbox: what all kinds have, and the record itself under the name of its kind. */
export function itemView(item: PersonRecord, { view, isMasked }: ItemLook): InboxItem {
  const shared = {
    id: item.id,
    session_id: item.sessionId,
    owner: item.owner,
    agent: item.agent,
    title: 'title' in item ? item.title : `${view.title} ${view.gist}`.trimEnd(),
    status: wireStatus(item.wait, item.status),
    risk: item.wait === 'approval' ? item.risk : null,
    tool: item.wait === 'approval' ? item.tool : null,
    host: item.supervised?.host ?? null,
    session_title: view.session.title,
    created_at: isoTime(item.createdAt),
    expires_at: item.expiresAt === null ? null : isoTime(item.expiresAt),
    decided_at: item.decidedAt === null ? null : isoTime(item.decidedAt),
    decided_by: item.decidedBy,
    decided_channel: item.decidedVia,
    view,
  }
  const { kind } = recordKinds[item.wait].wire
  return { ...shared, kind, [kind]: encodeRecord(item, { isMasked }) } as InboxItem
}
