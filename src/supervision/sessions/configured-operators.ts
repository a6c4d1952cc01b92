import { LOCAL_USER } from '../../domain/session.ts'
import type { EscalationSettings, OperatorSettings } from '../../domain/supervision-settings.ts'
import type { Operators } from './may-command.ts'

/** The people that quarterdeck.yaml names. A sole operator is also an admin: there is nobody else to ask. */
export function configuredOperators(
  operators: readonly Pick<OperatorSettings, 'name' | 'admin' | 'console' | 'group'>[],
  escalation: readonly EscalationSettings[] = [],
): Operators {
  const isSole = operators.length <= 1
  const named = (name: string) => operators.find((one) => one.name === name || one.console === name)
  const isLocal = (name: string): boolean => name === LOCAL_USER || name === 'operator'
  return {
    isAdmin: (name) => named(name)?.admin === true || (isSole && (named(name) !== undefined || isLocal(name))),
    standsIn(name, waitedMs) {
      const person = named(name)
      if (person === undefined) return false
      const isMeant = (to: string): boolean => to === person.name || to === person.group
      return escalation.some(({ afterMs, to }) => waitedMs >= afterMs && to.some(isMeant))
    },
    isKnown: (name) => named(name) !== undefined || (isSole && isLocal(name)),
  }
}
