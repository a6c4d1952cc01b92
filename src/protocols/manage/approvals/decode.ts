import type { ArgumentCondition, ArgumentConditions } from '../../../domain/agent/approval-rule.ts'
import { ServerError } from '../../../domain/errors.ts'
import { parseUuid } from '../../../domain/ids.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { present } from '../../../domain/present.ts'
import { type ApprovalStatus, approvalStatuses } from '../../../domain/records/record.ts'
import { type Decision, rememberScopes } from '../../../domain/supervision/decision.ts'
import type { Request } from '../../../http/route.ts'
import type { Edit } from '../../../supervision/approvals/check-edit.ts'
import type { GroupDecision } from '../../../supervision/approvals/decide-group.ts'
import type { LineRange } from '../../../supervision/workspace/show-file.ts'
import { queryProblem, wordIn } from '../../shared/request/page.ts'
import { validBody } from '../../shared/request/validate.ts'
import {
  DecisionSchema,
  EditSchema,
  type GrantCondition,
  GroupDecisionSchema,
  type LookedAt,
  RevealSchema,
} from './schema.ts'

/** More than any tool has arguments, and few enough to check each one. */
const MAX_CONDITIONS = 100

/** Throws `invalid_request`. */
export function decodeDecision(body: unknown): Decision {
  if (conditionCount(body) > MAX_CONDITIONS) {
    throw problem('/grant/where', `A grant has at most ${MAX_CONDITIONS} conditions.`)
  }
  const {
    decision,
    digest,
    reason,
    arguments: edited,
    remember,
    grant,
    result,
    force,
    content,
    looked_at,
  } = validBody(DecisionSchema, body, 'The body is not a valid decision.')
  if (decision !== 'approve' && edited !== undefined) {
    throw problem('/arguments', 'Only an approval can edit arguments.')
  }
  if (decision !== 'approve' && (force !== undefined || content !== undefined)) {
    throw problem(force === undefined ? '/content' : '/force', 'Only an approval can edit or force a change.')
  }
  if (decision === 'respond' && remember !== undefined) {
    throw problem('/remember', 'An answer in the place of the tool cannot be remembered.')
  }
  if (decision === 'respond' && result === undefined) {
    throw problem('/result', 'Send the answer as `result`: any JSON value.')
  }
  if (decision !== 'respond' && result !== undefined) {
    throw problem('/result', 'Only `"decision": "respond"` comes with a result.')
  }
  if (grant !== undefined && remember === undefined) {
    throw problem('/grant', `Send \`remember\` too: ${rememberScopes.join(', ')}.`)
  }
  const { where, seconds, match } = grant ?? {}
  return present({
    decision,
    digest,
    lookedAt: looked_at && lookedAt(looked_at),
    reason,
    arguments: edited,
    result,
    force,
    content,
    remember: remember && present({ scope: remember, where: where && conditions(where), seconds, match }),
  })
}

const lookedAt = ({ whole, not_seen: notSeen = [] }: LookedAt) => ({ isWhole: whole, notSeen })

/** Throws `invalid_request`. */
export function decodeGroup(body: unknown): GroupDecision {
  const { decision, items, reason, looked_at } = validBody(
    GroupDecisionSchema,
    body,
    'The body is not a valid decision.',
  )
  // Both spellings of an id are the same approval.
  const ids = items.map(({ id }) => parseUuid(id) ?? id)
  const again = ids.findIndex((id, i) => ids.indexOf(id) < i)
  if (again !== -1) throw problem(`/items/${again}/id`, 'Name each approval once.')
  return present({ decision, items, reason, lookedAt: looked_at && lookedAt(looked_at) })
}

function conditionCount(body: unknown): number {
  const grant = isRecord(body) && isRecord(body.grant) ? body.grant : {}
  return isRecord(grant.where) ? Object.keys(grant.where).length : 0
}

const conditions = (given: Record<string, GrantCondition>): ArgumentConditions =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name, condition(value)]))

function condition(value: GrantCondition): ArgumentCondition {
  if (Array.isArray(value)) return { oneOf: value }
  if (typeof value === 'string') return /[*?]/.test(value) ? { matches: value } : { equals: value }
  if (typeof value !== 'object' || value === null) return { equals: value }
  if ('one_of' in value) return { oneOf: value.one_of }
  if ('not' in value) return { not: condition(value.not) }
  return value
}

/** `?status=`: one status, or `all`. Default: `pending`. Undefined means all. */
export function decodeStatus({ query }: Pick<Request, 'query'>): ApprovalStatus | undefined {
  const detail = `Send one of ${approvalStatuses.join(', ')}, or all.`
  const status = wordIn(query, 'status', [...approvalStatuses, 'all'], detail) ?? 'pending'
  return status === 'all' ? undefined : status
}

/** Throws `invalid_request`. */
export function decodeEdit(body: unknown): Edit {
  const { arguments: edited, content } = validBody(EditSchema, body, 'The body is not a valid edit.')
  if ((edited === undefined) === (content === undefined)) {
    throw new ServerError('invalid_request', 'The body is not a valid edit.', {
      problems: [{ pointer: '', detail: 'Send either `arguments` or `content`.' }],
    })
  }
  return present({ arguments: edited, content })
}

/** The name of one argument. Throws `invalid_request`. */
export const decodeReveal = (body: unknown): string =>
  validBody(RevealSchema, body, 'The body does not name an argument.').name

/** `?include=content,all`: an editor needs the whole text, most readers only the diff. */
export function decodeInclude({ query }: Pick<Request, 'query'>): { content: boolean; all: boolean } {
  const words = query.get('include')?.split(',') ?? []
  if (words.some((word) => word !== 'content' && word !== 'all')) {
    throw queryProblem({ pointer: 'include', detail: 'Send content, all, or both with a comma between them.' })
  }
  return { content: words.includes('content'), all: words.includes('all') }
}

/** `?path=src/a.ts`: one file of a change of several. Undefined: all of them. */
export const decodePath = ({ query }: Pick<Request, 'query'>): string | undefined => query.get('path') ?? undefined

/** `?from=12&to=31`: lines of a file, counted from 1. Without `to`: to the end. Throws `invalid_request`. */
export function decodeLines({ query }: Pick<Request, 'query'>): LineRange {
  const numberIn = (name: string): number | null => {
    const text = query.get(name)
    if (text === null) return null
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text)
    throw queryProblem({ pointer: name, detail: 'Send the number of a line. The first is 1.' })
  }
  return { from: numberIn('from') ?? 1, to: numberIn('to') }
}

const problem = (pointer: string, detail: string): ServerError =>
  new ServerError('invalid_request', 'The body is not a valid decision.', { problems: [{ pointer, detail }] })
