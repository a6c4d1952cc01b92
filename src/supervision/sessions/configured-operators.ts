import { LOCAL_USER } from '../../domain/session/session.ts'
import type { EscalationSettings, OperatorGroup, OperatorSettings } from '../../domain/settings/supervision-settings.ts'
import type { Membership } from '../../domain/supervision/decision.ts'
import { isRemoteUser } from '../../domain/supervision/user-name.ts'
import type { Operators } from './may-command.ts'

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
