import { LOCAL_USER } from '../../domain/session.ts'
import type { EscalationSettings, OperatorSettings } from '../../domain/supervision-settings.ts'
import type { Operators } from './may-command.ts'

/**
 * The people that quarterdeck.yaml names. Whoever is `local` also has the tokens of the first start, which name no user. A sole operator
 * is also an admin: there is nobody else to ask.
 */
export function configuredOperators(
  operators: readonly Pick<OperatorSettings, 'name' | 'admin' | 'console' | 'group' | 'local'>[],
  escalation: readonly EscalationSettings[] = [],
): Operators {
  const isLocal = (name: string): boolean => name === LOCAL_USER || name === 'operator'
  const isSole = operators.length <= 1
  const named = (name: string) =>
    operators.find((one) => one.name === name || one.console === name) ??
    (isLocal(name) ? operators.find(({ local }) => local) : undefined)
  // The settings put this one in where nobody is named.
  const isOpenToAll = isSole && operators.every(({ name }) => name === LOCAL_USER)
  // `local_user` and `operator` are the same person, whichever of the two names is in the list.
  const hasLocal = isSole || operators.some(({ name }) => isLocal(name))
  return {
    personOf: (name) => named(name)?.name ?? name,
    isAdmin: (name) => named(name)?.admin === true || (isSole && (named(name) !== undefined || isLocal(name))),
    standsIn(name, waitedMs) {
      const person = named(name)
      if (person === undefined) return false
      const isMeant = (to: string): boolean => to === person.name || to === person.group
      return escalation.some(({ afterMs, to }) => waitedMs >= afterMs && to.some(isMeant))
    },
    isKnown: (name) => isOpenToAll || named(name) !== undefined || (hasLocal && isLocal(name)),
  }
}
