// The grant that comes with a decision: similar calls run without asking, or are refused without asking.

import type { ArgumentConditions } from '../../domain/agent/approval-rule.ts'
import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { type Grant, QUARTER_HOUR_SECONDS } from '../../domain/supervision/grant.ts'
import { COUNT, fits } from '../policy/argument-conditions.ts'

const MAX_CONDITIONS = 200

const refuse = (message: string): ServerError => new ServerError('invalid_request', message)

export interface GrantRequest {
  id: string
  approval: Approval
  remember: NonNullable<Decision['remember']>
  /** `refuse`: similar calls are refused. Undefined: they run. */
  effect: 'refuse' | undefined
  by: Caller
  now: number
}

export interface OwnGrantRequest extends GrantRequest {
  /** The arguments that will run, edited ones if the decision edited them; or those that were refused. */
  arguments: Record<string, unknown>
}

/** Throws `invalid_request` if this grant is not allowed. */
export function newGrant({ arguments: args, ...request }: OwnGrantRequest): Grant {
  const { approval, remember, effect, by, now } = request
  const { scope, where } = remember
  if (approval.risk === 'critical' && effect !== 'refuse') {
    throw refuse(
      `${approval.tool} has risk critical, so every call needs its own approval. Answer without \`remember\`.`,
    )
  }
  if (scope === 'workspace')
    throw refuse('This agent has no workspace. Remember it for the `session`, `15m` or `always`.')
  if (remember.match !== undefined)
    throw refuse('`match` is for agents elsewhere. Name the arguments that matter in `where`.')
  if (scope === '15m' && remember.seconds !== undefined) throw refuse('`15m` says how long. Leave `seconds` out.')
  if (scope !== 'session' && by.role !== 'operator') {
    throw refuse('Only an operator can decide for every session. Answer with `remember: session`, or without it.')
  }
  if (where !== undefined && !isFitting(where, args)) {
    throw refuse('The call itself does not fit `where`. Change the conditions so that they cover this call.')
  }
  // People forget the grants that they gave for a while, so those end soon.
  const seconds = remember.seconds === undefined ? (scope === 'always' ? null : QUARTER_HOUR_SECONDS) : remember.seconds
  if (seconds !== null && !(Number.isFinite(seconds) && seconds > 0)) {
    throw refuse('`seconds` must be more than 0, or null for a grant that lasts until it is revoked.')
  }
  const expiresAt = seconds === null ? null : now + seconds * 1_000
  return { ...asGrant(request), agent: approval.agent, where: where ?? exactly(args), expiresAt }
}

/** What every grant takes over from its question. */
export const asGrant = ({ id, approval, remember, effect, by, now }: GrantRequest) =>
  present({
    id,
    tool: approval.tool,
    effect,
    sessionId: remember.scope === 'session' ? approval.sessionId : null,
    grantedBy: by.user,
    approvalId: approval.id,
    policyVersion: approval.policyVersion,
    createdAt: now,
  })

function isFitting(where: ArgumentConditions, args: Record<string, unknown>): boolean {
  try {
    // Paths are checked with the next call, because only then the tool's folders are known.
    return fits(where, args, null, 'narrow')
  } catch {
    throw refuse('`where` has an unknown condition. Use equals, oneOf, matches, path, above, below or not.')
  }
}

/**
 * Conditions that only these arguments fit: the value of every scalar, by its path, and the number of entries of every object and
 * list. Without that number, a grant for one recipient would allow that one and any number more.
 */
function exactly(args: Record<string, unknown>): ArgumentConditions {
  const conditions: ArgumentConditions = {}
  const add = (value: unknown, path: string): void => {
    if (Object.keys(conditions).length >= MAX_CONDITIONS) {
      throw refuse('There are too many arguments to remember. Name those that matter in `where`.')
    }
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' || value === null) {
      conditions[path] = { equals: value }
      return
    }
    const entries = Object.entries(Object(value))
    conditions[path === '' ? COUNT : `${path}.${COUNT}`] = { equals: entries.length }
    for (const [name, inner] of entries) {
      if (name === '' || name === COUNT || name === '__proto__' || name.includes('.')) {
        throw refuse(
          `The argument ${JSON.stringify(name)} cannot be remembered. Name the arguments that matter in \`where\`.`,
        )
      }
      add(inner, path === '' ? name : `${path}.${name}`)
    }
  }
  add(args, '')
  return conditions
}
