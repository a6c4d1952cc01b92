// What a person decides about an agent elsewhere for more than one call: what may be remembered, the grant, and what the trail says of it.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { SupervisedApproval } from '../../domain/records/record.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Decision } from '../../domain/supervision/decision.ts'
import { type Grant, grantScope, QUARTER_HOUR_SECONDS } from '../../domain/supervision/grant.ts'
import { programOf } from '../../hosts/hosts.ts'
import { canonicalJson } from '../../json/digest.ts'
import type { ElsewhereNow } from '../approvals/decide.ts'
import { asGrant, type GrantRequest } from '../approvals/new-grant.ts'
import type { Assessment, Work } from '../risk/risk.ts'
import type { Changes, SupervisedSession } from '../sessions/take-step.ts'
import { matchLabel } from './match-label.ts'
import { ELSEWHERE_SCOPES, isEdited, isHostWork } from './offered.ts'
import { isFor } from './remembered.ts'

/** Throws `invalid_request` for what cannot be remembered with this decision. */
export function refuseRemember(approval: SupervisedApproval, given: Decision): void {
  const { decision, remember: wanted, arguments: edited, content } = given
  if (wanted === undefined) return
  const { id, risk, matches = [] } = approval
  const refuse = (message: string, pointer: string, detail: string): never => {
    throw new ServerError('invalid_request', message, { details: { approval_id: id }, problems: [{ pointer, detail }] })
  }
  const without = (why: string): never => refuse(`${why} Answer without \`remember\`.`, '/remember', 'Leave it out.')
  if (!isHostWork(approval)) without('A policy counts until its file changes, so there is nothing to remember.')
  if (edited !== undefined || content !== undefined || isEdited(approval)) {
    without('What may be remembered belongs to the agent’s own call, and this one was edited.')
  }
  if (decision !== 'reject' && risk === 'critical') without('This is critical, so each one needs its own approval.')
  if (matches.length === 0) without('There is nothing like it that could be remembered.')
  if (!ELSEWHERE_SCOPES.includes(wanted.scope)) {
    const scopes = ELSEWHERE_SCOPES.join(', ')
    refuse('For an agent elsewhere, remember it for the `workspace` instead.', '/remember', `Send one of ${scopes}.`)
  }
  if (wanted.where !== undefined || wanted.seconds !== undefined) {
    const message = 'Of an agent elsewhere, `match` says what is remembered, and the scope says how long.'
    refuse(message, '/grant', 'Leave `where` and `seconds` out.')
  }
  if (wanted.match !== undefined && !matches.some((one) => canonicalJson(one) === canonicalJson(wanted.match))) {
    const others = matches.map((one) => JSON.stringify(one)).join(', ')
    refuse('This was not offered, so nobody has looked at it.', '/grant/match', `Send one of ${others}.`)
  }
}

/** After `refuseRemember`. Who says the same again renews the grant that is there. */
export function grantElsewhere(
  request: GrantRequest & { approval: SupervisedApproval },
  { owner, workspaceRoot, grants }: ElsewhereNow,
): Grant {
  const { approval, remember, now } = request
  const match = remember.match ?? approval.matches?.[0]
  if (match === undefined) throw new Error('Nothing was offered.')
  const grant = {
    ...asGrant(request),
    agent: programOf(approval.supervised.host),
    where: {},
    expiresAt: remember.scope === '15m' ? now + QUARTER_HOUR_SECONDS * 1_000 : null,
    elsewhere: { owner, workspaceRoot, match, risk: approval.risk },
  }
  const same = grants.find((one) => meaningOf(one) === meaningOf(grant))
  return { ...grant, id: same?.id ?? grant.id }
}

const meaningOf = (grant: Grant): string =>
  canonicalJson([grant.agent, effectOf(grant), grant.sessionId, grantScope(grant), grant.elsewhere ?? null])

const effectOf = ({ effect }: Grant): string => effect ?? 'allow'

/** Beside the record of the decision. */
export function grantMade(grant: Grant, decision: AuditRecord): AuditRecord {
  const { id, approvalId, elsewhere } = grant
  const what = elsewhere === undefined ? undefined : matchLabel(elsewhere.match, elsewhere.risk)
  const about = { grant: id, approval: approvalId, scope: grantScope(grant), effect: effectOf(grant) }
  return { ...decision, kind: 'grant_made', details: present({ ...about, match: what }) }
}

interface Use {
  work: Work
  assessed: Assessment
  at: number
  call: string
  /** Id of the approval that it decided; null: none was made. */
  approval: string | null
}

/**
 * The part of a step that says by which grants a piece of work was let through or refused. It is refused with `conflict` if one was
 * revoked, or the session handed over, a moment ago: then ask a person.
 */
export function grantUse(
  session: SupervisedSession,
  grants: readonly Grant[],
  { work, assessed, at, call, approval }: Use,
): Required<Pick<Changes, 'uses' | 'audit'>> {
  const about = { session: session.id, run: null, agent: session.agent, tool: work.toolName, call }
  const records = grants.map((grant): AuditRecord => {
    if (!isFor(grant, session)) throw new ServerError('conflict', `Grant ${grant.id} is not for this session any more.`)
    const details = present({
      grant: grant.id,
      effect: effectOf(grant),
      match: matchLabel(grant.elsewhere.match, grant.elsewhere.risk),
      command: work.command ?? undefined,
      risk: assessed.risk,
      approval: approval ?? undefined,
    })
    return { at, kind: 'grant_used', by: grant.grantedBy, ...about, details }
  })
  return { uses: grants.map(({ id }) => id), audit: records }
}
