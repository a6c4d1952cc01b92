// What the server's log tells of agents elsewhere: who did what in which folder, and what came of it. Never what anybody said.

import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import { type Alert, type AskedRecord, isAsked, type SupervisedRecord } from '../../domain/records/record.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Step, SupervisedSession } from './take-step.ts'

/** Adds the session, the agent's program and its folder to every line. */
export const agentLogger = (logger: Logger, { id, agent, supervision }: SupervisedSession): Logger =>
  logger.with({ session_id: id, agent, folder: supervision.workspaceRoot })

type Taken = Pick<Step<unknown>, 'ask' | 'settle' | 'audit'>

/** One line for each session, question, decision, alert and nudge of a step that the store has taken. `before`: null for a new session. */
export function logStep(
  logger: Logger,
  before: { session: SupervisedSession; waiting: readonly SupervisedRecord[] } | null,
  session: SupervisedSession,
  { ask = [], settle = [], audit = [] }: Taken,
): void {
  const log = agentLogger(logger, session)
  for (const record of ask) {
    if (isAsked(record)) logAsked(log, record)
    else logAlert(log, record)
  }
  for (const { id, patch } of settle) {
    const alert = before?.waiting.find((one) => one.id === id)
    if (alert !== undefined && !isAsked(alert) && patch.status !== undefined)
      logAlert(log, { ...alert, ...patch } as Alert)
  }
  for (const record of audit) logAudited(log, record)
  const { status } = session.supervision
  const isTold = audit.some(({ kind, details: { what } }) => kind === 'supervised' && what !== 'nudge')
  if (status !== before?.session.supervision.status && !isTold) log.info('agent session', { outcome: status })
}

function logAsked(log: Logger, record: AskedRecord): void {
  const { id, tool, callId: call_id } = record
  const approval = record.wait === 'approval' ? { approval_id: id, kind: record.kind, risk: record.risk } : null
  log.info('waiting for a person', { tool, call_id, ...(approval ?? { record_id: id, kind: record.wait }) })
}

function logAlert(log: Logger, { id, status, lastTool, idleSeconds, nudgeCount, decidedBy, signIn }: Alert): void {
  const by = decidedBy === null ? {} : { by: decidedBy }
  if (signIn !== undefined) {
    log.warn('sign-in alert', { alert_id: id, outcome: status, mcp_server: signIn.server, ...by })
    return
  }
  const silence = { last_tool: lastTool, idle_seconds: idleSeconds, nudge_count: nudgeCount }
  log.warn('stall alert', { alert_id: id, outcome: status, ...silence, ...by })
}

function logAudited(log: Logger, { kind, by, tool, details }: AuditRecord): void {
  const { what, decision, approval, record, channel, way, count, rule } = details
  if (kind === 'decision') {
    const subject = approval === undefined ? { record_id: record } : { approval_id: approval }
    log.info('decision', present({ tool, outcome: decision, by, channel, ...subject, kind: details.kind }))
  } else if (kind === 'auto_approved') {
    log.info('decision', { tool, outcome: 'approved', by, rule })
  } else if (kind === 'grant_used') {
    log.info('decision', {
      tool,
      outcome: details.effect === 'refuse' ? 'rejected' : 'approved',
      by,
      rule: details.match,
    })
  } else if (what === 'nudge') {
    log.info('nudge', { outcome: way, by, nudge_count: count })
  } else if (kind === 'supervised' && !String(what).startsWith('stall_')) {
    log.info('agent session', present({ outcome: what, by, channel, from: details.from, to: details.to }))
  }
}
