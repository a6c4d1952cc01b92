// The standing yes that comes with an answer.

import type { ArgumentConditions } from '../../domain/approval-rule.ts'
import type { Caller, Decision } from '../../domain/decision.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Grant } from '../../domain/grant.ts'
import type { Approval } from '../../domain/wait.ts'
import { COUNT, fits } from '../policy/argument-conditions.ts'

/** A yes in a session that nobody thinks of any more should not be one for long. */
const SESSION_SECONDS = 900
const MAX_CONDITIONS = 200

const refuse = (message: string): ServerError => new ServerError('invalid_request', message)

export interface GrantRequest {
  /** Id of the new grant. */
  id: string
  approval: Approval
  /** The arguments that will run: edited ones, if the decision edited them. */
  arguments: Record<string, unknown>
  remember: NonNullable<Decision['remember']>
  by: Caller
  now: number
}

/** Throws `invalid_request` where it may not be given. */
export function newGrant({ id, approval, arguments: args, remember, by, now }: GrantRequest): Grant {
  const { scope, where } = remember
  if (approval.risk === 'critical') {
    throw refuse(`${approval.tool} is of risk critical: each call is asked about. Answer without \`remember\`.`)
  }
  if (scope === 'always' && by.role !== 'operator') {
    throw refuse('Only an operator can say yes for every session. Answer with `remember: session`, or without it.')
  }
  if (where !== undefined && !isFitting(where, args)) {
    throw refuse('The call itself does not fit `where`. Change the conditions so that they cover what is approved.')
  }
  const seconds = remember.seconds === undefined ? (scope === 'session' ? SESSION_SECONDS : null) : remember.seconds
  if (seconds !== null && !(Number.isFinite(seconds) && seconds > 0)) {
    throw refuse('`seconds` must be more than 0, or null for a yes that holds until it is revoked.')
  }
  return {
    id,
    agent: approval.agent,
    tool: approval.tool,
    where: where ?? exactly(args),
    sessionId: scope === 'session' ? approval.sessionId : null,
    grantedBy: by.user,
    approvalId: approval.id,
    policyVersion: approval.policyVersion,
    createdAt: now,
    expiresAt: seconds === null ? null : now + seconds * 1_000,
  }
}

function isFitting(where: ArgumentConditions, args: Record<string, unknown>): boolean {
  try {
    // Paths are left to the next call: only then is it known which folder they begin in.
    return fits(where, args, null, 'narrow')
  } catch {
    throw refuse('`where` has a condition that is none: use equals, oneOf, matches, path, above, below or not.')
  }
}

/**
 * These arguments and no others. Every scalar in them by its path, and of every object and list how many entries it has:
 * otherwise a yes to one recipient would be a yes to that one and any number more.
 */
function exactly(args: Record<string, unknown>): ArgumentConditions {
  const conditions: ArgumentConditions = {}
  const add = (value: unknown, path: string): void => {
    if (Object.keys(conditions).length >= MAX_CONDITIONS) {
      throw refuse('These arguments are too many to remember. Say with `where` which of them matter.')
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
          `The argument ${JSON.stringify(name)} cannot be remembered. Say with \`where\` which of them matter.`,
        )
      }
      add(inner, path === '' ? name : `${path}.${name}`)
    }
  }
  add(args, '')
  return conditions
}
