import type { ArgumentCondition } from '../../../domain/approval-rule.ts'
import { isoTime } from '../../../domain/clock.ts'
import type { Grant } from '../../../domain/grant.ts'
import { type Approval, nobodyWaitsSince } from '../../../domain/records/record.ts'
import { maskEntries } from '../../../domain/secret-name.ts'
import type { EditCheck } from '../../../supervision/approvals/check-edit.ts'
import type { ShownCall } from '../../../supervision/approvals/shown-call.ts'
import { shownDiff } from '../../../supervision/diffs/show-change.ts'
import type * as wire from './schema.ts'

const time = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))

/** `isMasked`: for a page that shows what it gets, so it gets no secrets. */
export function approvalView(
  approval: Approval,
  { isMasked = false }: { isMasked?: boolean } = {},
): Omit<wire.Approval, 'view'> {
  const argumentsIn = (json: string): Record<string, unknown> =>
    isMasked ? maskEntries(JSON.parse(json)) : JSON.parse(json)
  return {
    approval_id: approval.id,
    status: approval.status,
    kind: approval.kind,
    title: approval.title,
    description: approval.description,
    action: approval.action,
    preview: approval.preview ?? null,
    question:
      approval.question === undefined ? null : { message: approval.question.message, schema: approval.question.schema },
    response: responseOf(approval),
    risk: approval.risk,
    tool: approval.tool,
    arguments: argumentsIn(approval.arguments),
    edited_arguments: approval.editedArguments === null ? null : argumentsIn(approval.editedArguments),
    agent: approval.agent,
    session_id: approval.sessionId,
    run_id: approval.runId,
    continuation_run_id: approval.continuationRunId,
    tool_call_id: approval.callId,
    answerable_by: approval.answerableBy,
    digest: approval.digest,
    policy_version: approval.policyVersion,
    before_hash: approval.beforeHash,
    after_hash: approval.afterHash,
    created_at: isoTime(approval.createdAt),
    expires_at: time(approval.expiresAt),
    decided_at: time(approval.decidedAt),
    decided_by: approval.decidedBy,
    decided_channel: approval.decidedVia,
    reason: approval.reason,
    consumed_at: time(approval.consumedAt),
    host: approval.supervised?.host ?? null,
    nobody_waits_since: time(nobodyWaitsSince(approval)),
    change: changeView(approval),
    edited: approval.editedArguments !== null || approval.supervised?.isEdited === true,
    quorum: approval.quorum ?? 1,
    decisions: (approval.decisions ?? []).map(({ by, via, at }) => ({ by, at: isoTime(at), channel: via })),
  }
}

/** Of a change by an agent elsewhere. */
function changeView({ supervised }: Approval): wire.Change | null {
  const change = supervised?.change ?? null
  if (supervised === undefined || change === null) return null
  return {
    file_path: change.path,
    kind: change.kind,
    added_lines: change.addedLines,
    removed_lines: change.removedLines,
    warnings: change.warnings,
    protected_because: change.protectedBecause,
    has_hidden_text: change.hasHiddenText,
    may_force: supervised.mayForce,
    applied_at: time(supervised.appliedAt),
    not_applied: supervised.notApplied ?? null,
  }
}

/** The answer to a question as a value. A result in a tool's place is a text. */
function responseOf({ kind, response }: Approval): unknown {
  if (response === undefined) return null
  return kind === 'question' ? JSON.parse(response) : response
}

export const shownView = ({ arguments: args, warnings }: ShownCall): wire.ShownCall => ({
  arguments: args.map(({ name, text, isJson, isSecret, hidden, bytes, cut }) => ({
    name,
    text,
    json: isJson,
    secret: isSecret,
    hidden,
    bytes,
    cut: cut === null ? null : { shown_bytes: cut.shownBytes, sha256: cut.sha256 },
  })),
  warnings,
})

export const editCheckView = ({ problems, risk, shown, changes, preview, change }: EditCheck): wire.EditCheck => ({
  ok: problems.length === 0,
  problems,
  risk,
  shown: shownView(shown),
  changes,
  preview,
  change:
    change === null
      ? null
      : {
          digest: change.digest,
          added_lines: change.addedLines,
          removed_lines: change.removedLines,
          shown_diff: shownDiff(change).text,
          edit_diff: shownDiff({ path: change.path, diff: change.difference }).text,
        },
})

export function grantView(grant: Grant, { isMasked = false }: { isMasked?: boolean } = {}): wire.Grant {
  const where = Object.fromEntries(Object.entries(grant.where).map(([name, value]) => [name, conditionView(value)]))
  return {
    grant_id: grant.id,
    agent: grant.agent,
    tool: grant.tool,
    effect: grant.effect ?? 'allow',
    where: isMasked ? maskEntries(where) : where,
    session_id: grant.sessionId,
    granted_by: grant.grantedBy,
    approval_id: grant.approvalId,
    created_at: isoTime(grant.createdAt),
    expires_at: time(grant.expiresAt),
  }
}

/** In the form of a request. */
function conditionView(condition: ArgumentCondition): unknown {
  if ('oneOf' in condition) return { one_of: condition.oneOf }
  if ('not' in condition) return { not: conditionView(condition.not) }
  return condition
}
