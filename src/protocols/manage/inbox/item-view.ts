import { isoTime } from '../../../domain/clock.ts'
import type { PersonRecord } from '../../../domain/records/record.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import { visibleText } from '../../../domain/visible-text.ts'
import { approvalView } from '../approvals/encode.ts'
import { alertView, promptView, standbyView } from '../supervision/encode.ts'

interface ItemLook {
  /** Of its session; null: it has none. */
  sessionTitle: string | null
  /** For a page that shows what it gets, so it gets no secrets. */
  isMasked: boolean
}

/** One item of the inbox: what all kinds have, and the record itself under the name of its kind. */
export function itemView(item: PersonRecord, { sessionTitle, isMasked }: ItemLook) {
  const shared = {
    id: item.id,
    session_id: item.sessionId,
    owner: item.owner,
    agent: item.agent,
    title: titleOf(item),
    status: item.wait === 'standby' && item.status === 'pending' ? ('waiting' as const) : item.status,
    risk: item.wait === 'approval' ? item.risk : null,
    tool: item.wait === 'approval' ? item.tool : null,
    host: item.supervised?.host ?? null,
    session_title: sessionTitle,
    created_at: isoTime(item.createdAt),
    expires_at: item.expiresAt === null ? null : isoTime(item.expiresAt),
    decided_at: item.decidedAt === null ? null : isoTime(item.decidedAt),
    decided_by: item.decidedBy,
    decided_channel: item.decidedVia,
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

const MOST_TITLE = 200

/** One line, in which every character is visible. */
function titleOf(item: PersonRecord): string {
  switch (item.wait) {
    case 'approval':
      return item.title
    case 'prompt':
      return firstLine(item.promptText)
    case 'standby':
      return firstLine(item.message)
    case 'alert':
      return `Silent for ${item.idleSeconds} s${item.lastTool === null ? '' : ` after ${firstLine(item.lastTool)}`}`
    default:
      return unreachable(item)
  }
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  const shown = visibleText(line.slice(0, MOST_TITLE).toWellFormed())
  return line.length === text.trim().length && line.length <= MOST_TITLE ? shown : `${shown}…`
}
