import type { ArgumentCondition } from '../../../domain/agent/approval-rule.ts'
import { type Grant, grantScope } from '../../../domain/supervision/grant.ts'
import { maskEntries } from '../../../domain/text/secret-name.ts'
import type { EditCheck } from '../../../supervision/approvals/check-edit.ts'
import type { ShownCall } from '../../../supervision/approvals/shown-call.ts'
import { shownDiff } from '../../../supervision/diffs/show-change.ts'
import { grantLabel } from '../../../supervision/remember/match-label.ts'
import { sameFields } from '../../shared/same-fields.ts'
import type * as wire from './schema.ts'
import { GrantSchema } from './schema.ts'

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

const sameOfGrant = sameFields<Grant, typeof GrantSchema.shape>(GrantSchema.shape)
export function grantView(grant: Grant, { isMasked = false }: { isMasked?: boolean } = {}): wire.Grant {
  const where = Object.fromEntries(Object.entries(grant.where).map(([name, value]) => [name, conditionView(value)]))
  return {
    ...sameOfGrant(grant),
    grant_id: grant.id,
    effect: grant.effect ?? 'allow',
    where: isMasked ? maskEntries(where) : where,
    scope: grantScope(grant),
    label: grantLabel(grant),
    match: grant.elsewhere?.match ?? null,
    workspace: grant.elsewhere?.workspaceRoot ?? null,
    owner: grant.elsewhere?.owner ?? null,
  }
}

/** In the form of a request. */
function conditionView(condition: ArgumentCondition): unknown {
  if ('oneOf' in condition) return { one_of: condition.oneOf }
  if ('not' in condition) return { not: conditionView(condition.not) }
  return condition
}
