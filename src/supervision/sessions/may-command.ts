// Who may decide what an agent elsewhere asks, and command its session.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import type { EscalationSettings, OperatorGroup, OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { Caller, Membership } from '../../domain/supervision/decision.ts'
import { isRemoteUser } from '../../domain/supervision/user-name.ts'
import type { SupervisedSession } from './take-step.ts'

export interface Operators {
  /** May decide everywhere, and hand sessions over. */
  isAdmin(name: string, of?: Membership): boolean
  /**
   * A name that may own sessions. Without a list of operators every name may, and a name of an identity provider may be of a member of a
   * group. With `of`, which says what is known of somebody who is here: whether the settings name them, so that they count in a quorum.
   */
  isKnown(name: string, of?: Membership): boolean
  /** The name under which a person owns sessions, whichever of their names they come with. */
  personOf(name: string): string
  /** May decide for the owner by now: `operators.escalation` names them for what has waited this long. */
  standsIn(name: string, waitedMs: number, of?: Membership): boolean
}

/** For servers that name no operators: every name is a person of their own. */
export const everybody: Operators = {
  isAdmin: () => false,
  isKnown: () => true,
  personOf: (name) => name,
  standsIn: () => false,
}

/**
 * Throws `forbidden`. The owner may, as long as they are an operator, and so may an admin, or whoever stands in for the owner after this
 * time. Other operators only see.
 */
export function refuseForeignCommand(operators: Operators, by: Caller, owner: string, waitedMs = 0): void {
  if (by.role !== 'operator') {
    throw new ServerError(
      'forbidden',
      `Only an operator may do this. Send the operator's token: "Authorization: Bearer <token>".`,
    )
  }
  if (hasOwnRight(operators, by, owner) || operators.standsIn(by.user, waitedMs, by)) return
  throw new ServerError(
    'forbidden',
    `This belongs to ${owner}, so only ${owner} or an admin may decide. You can see it. An admin can hand the session over to you.`,
    { details: { owner } },
  )
}

/** Whether something of this owner is theirs, or they are an admin, to whom everything is open. */
export const hasOwnRight = (operators: Operators, by: Caller, owner: string): boolean =>
  isOwner(operators, by, owner) || operators.isAdmin(by.user, by)

/** The tokens of a first start name no user: their operator is on record as `operator`. */
const isOwner = (operators: Operators, by: Caller, owner: string): boolean =>
  isSamePerson(operators, by.user, owner) || (owner === LOCAL_USER && by.user === 'operator')

export const isSamePerson = (operators: Operators, one: string, other: string): boolean =>
  operators.personOf(one) === operators.personOf(other)

/** For the audit trail: whether somebody decided only because the owner had not for so long. */
export const escalatedTo = (operators: Operators, by: Caller, owner: string): AuditRecord['details'] =>
  hasOwnRight(operators, by, owner) ? {} : { escalated: true }

/** Throws `forbidden`. A sole operator without a list is an admin. */
export function refuseWithoutAdmin(operators: Operators, by: Caller, what: string): void {
  if (by.role === 'operator' && operators.isAdmin(by.user, by)) return
  throw new ServerError('forbidden', `Only an admin may ${what}. quarterdeck.yaml names them: operators[].admin.`)
}

/**
 * Throws `forbidden`. What somebody does with a credential counts as done by the person it names. So only an admin makes one for another
 * person: otherwise one operator could talk and decide as others, and be all that a quorum asks for.
 */
export function refuseForOthers(operators: Operators, by: Caller, user: string): void {
  if (hasOwnRight(operators, by, user)) return
  const shown = user === LOCAL_USER ? 'operator' : user
  throw new ServerError(
    'forbidden',
    `Only an admin may let ${shown} in, and ${by.user} is none: quarterdeck.yaml names them (operators[].admin). Or run \`quarterdeck tokens create --user ${user}\` without --url: with Postgres where QUARTERDECK_STORE is set, otherwise while the server is stopped.`,
    { details: { owner: user } },
  )
}

/** Throws `forbidden` for a name that may own no sessions. */
export function refuseUnknownOwner(operators: Operators, owner: string): void {
  if (operators.isKnown(owner)) return
  throw new ServerError(
    'forbidden',
    `${JSON.stringify(owner)} is not an operator. quarterdeck.yaml names them: operators[].name.`,
  )
}

/** In words for the operator. The agent is told something else. */
export function refuseEnded({ id, supervision: { status } }: SupervisedSession): void {
  if (status !== 'terminated') return
  throw new ServerError('session_ended', `Session ${id} has ended. Its agent does not come back.`, {
    details: { session_id: id },
  })
}

/** The way a request came in, as the trail and the records name it. */
export const wayOf = ({ via = 'http' }: Caller): string => via

/** What a record says of the person who answers it. */
export const decidedNow = (by: Caller, at: number) => ({ decidedAt: at, decidedBy: by.user, decidedVia: wayOf(by) })

/** The same for the audit trail, with the credential that was shown. */
export const viaOf = (by: Caller): AuditRecord['details'] => present({ channel: wayOf(by), credential: by.credential })

type Listed = Pick<OperatorSettings, 'name' | 'admin' | 'console' | 'group' | 'local'> &
  Partial<Pick<OperatorSettings, 'logins'>>

/**
 * The people that quarterdeck.yaml names, and the members of the groups that it names. Whoever is `local` also has the tokens of the first
 * start, which name no user. A sole operator is also an admin: there is nobody else to ask.
 */
export function configuredOperators(
  operators: readonly Listed[],
  escalation: readonly EscalationSettings[] = [],
  groups: readonly OperatorGroup[] = [],
): Operators {
  const isLocal = (name: string): boolean => name === LOCAL_USER || name === 'operator'
  const isSole = operators.length <= 1 && groups.length === 0
  const named = (name: string) =>
    operators.find((one) => one.name === name || one.console === name || one.logins?.includes(name)) ??
    (isLocal(name) ? operators.find(({ local }) => local) : undefined)
  const groupsOf = ({ groups: own = [] }: Membership = {}): OperatorGroup[] =>
    groups.filter(({ group }) => own.includes(group))
  // The settings put this one in where nobody is named.
  const isOpenToAll = isSole && operators.every(({ name }) => name === LOCAL_USER)
  // `local_user` and `operator` are the same person, whichever of the two names is in the list.
  const hasLocal = isSole || operators.some(({ name }) => isLocal(name))
  return {
    personOf: (name) => named(name)?.name ?? name,
    isAdmin: (name, of) =>
      of?.isAdmin === true ||
      named(name)?.admin === true ||
      groupsOf(of).some(({ admin }) => admin) ||
      (isSole && (named(name) !== undefined || isLocal(name))),
    standsIn(name, waitedMs, of) {
      const person = named(name)
      const own = [person?.name, person?.group, ...groupsOf(of).map(({ group }) => group)]
      const isMeant = (to: string): boolean => own.includes(to)
      return escalation.some(({ afterMs, to }) => waitedMs >= afterMs && to.some(isMeant))
    },
    isKnown: (name, of) =>
      (isOpenToAll && of === undefined) ||
      named(name) !== undefined ||
      (hasLocal && isLocal(name)) ||
      (of === undefined ? groups.length > 0 && isRemoteUser(name) : groupsOf(of).length > 0),
  }
}
