// The audit trail is whole, and has every decision that somebody was told of and every call with an effect that began.

import { isSupervised } from '../../../src/domain/records/record.ts'
import type { AuditRecord } from '../../../src/domain/supervision/audit.ts'
import { verifyChain } from '../../../src/store/audit-chain.ts'
import type { Checker, Evidence } from '../evidence.ts'

export const audit: Checker = {
  name: 'audit',
  check: (evidence) => [...checkChain(evidence), ...checkDecisions(evidence), ...checkStarts(evidence)],
}

export const auditRecords = ({ audit: entries }: Pick<Evidence, 'audit'>): AuditRecord[] =>
  entries.map(({ text }) => JSON.parse(text))

function checkChain({ audit: entries }: Evidence): string[] {
  const verdict = verifyChain(entries)
  return verdict.ok ? [] : [verdict.reason]
}

function checkDecisions(evidence: Evidence): string[] {
  const records = auditRecords(evidence)
  const decisions = Map.groupBy(
    records.filter(({ kind }) => kind === 'decision'),
    ({ details }) => details.approval,
  )
  const asked = new Set(records.flatMap(({ kind, details }) => (kind === 'approval_asked' ? [details.approval] : [])))
  const told = evidence.history.decisions
    .filter(({ won }) => won === true)
    .filter(({ approvalId, by }) => decisions.get(approvalId)?.[0]?.by !== by)
    .map(({ approvalId, by }) => `the decision of ${by} on approval ${approvalId} is not in the trail`)
  const stored = [...evidence.waits.values()].flatMap((wait) => {
    if (wait.wait !== 'approval' || isSupervised(wait)) return []
    const found = decisions.get(wait.id) ?? []
    const wanted = wait.decidedBy === null ? 0 : 1
    return [
      ...(found.length === wanted
        ? []
        : [`approval ${wait.id} has ${found.length} decisions in the trail, not ${wanted}`]),
      ...(asked.has(wait.id) ? [] : [`that approval ${wait.id} was asked for is not in the trail`]),
    ]
  })
  return [...told, ...stored]
}

function checkStarts(evidence: Evidence): string[] {
  const started = new Set(auditRecords(evidence).flatMap(({ kind, call }) => (kind === 'call_started' ? [call] : [])))
  return evidence.history.toolStarts
    .filter(({ effect, callId }) => effect !== 'read' && !started.has(callId))
    .map(({ tool, callId }) => `${tool} (${callId}) was started and is not in the trail`)
}
