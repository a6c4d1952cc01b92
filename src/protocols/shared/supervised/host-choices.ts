// What a client can choose in the session of a hosted agent, out of the session's state.

import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { acpOf } from '../../../hosts/hosts.ts'
import type { HostState } from './schema.ts'

/** Nothing of what a program says is trusted to have its form. Undefined: no agent of ours is hosted here. */
export function hostState({ supervision, state }: Pick<SessionRecord, 'supervision' | 'state'>): HostState | undefined {
  if (supervision?.hosted === undefined) return undefined
  const { bold, commands: allowed } = acpOf(supervision.host)
  const host = isRecord(state) && isRecord(state.host) ? state.host : {}
  return {
    mode: typeof host.mode === 'string' ? host.mode : null,
    modes: recordsIn(host.modes)
      .map(namedIn)
      .filter((mode) => mode.id !== '' && !bold.modes.includes(mode.id)),
    commands: recordsIn(host.commands)
      .map(({ name, description, hint }) => ({
        name: textIn(name),
        description: textIn(description),
        hint: typeof hint === 'string' ? hint : null,
      }))
      .filter(({ name }) => name !== '' && (allowed?.includes(name) ?? true)),
    config: recordsIn(host.config).flatMap((option): HostState['config'] => {
      const { type, currentValue: value } = option
      const known = namedIn(option)
      if (type === 'boolean' && typeof value === 'boolean') return [{ ...known, value, values: null }]
      if (type !== 'select' || typeof value !== 'string') return []
      const values = recordsIn(option.options)
        .flatMap((one) => (Array.isArray(one.options) ? recordsIn(one.options) : [one]))
        .map((one) => ({ value: textIn(one.value), name: textIn(one.name) }))
        .filter((one) => bold.options[known.id] !== one.value)
      return [{ ...known, value, values }]
    }),
    usage: usageIn(host.usage),
  }
}

function usageIn(usage: unknown): HostState['usage'] {
  if (!isRecord(usage) || typeof usage.used !== 'number' || typeof usage.size !== 'number') return null
  const { used, size, cost } = usage
  const isTold = isRecord(cost) && typeof cost.amount === 'number' && typeof cost.currency === 'string'
  return { used, size, cost: isTold ? { amount: Number(cost.amount), currency: String(cost.currency) } : null }
}

const MOST = 200
const recordsIn = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isRecord).slice(0, MOST) : []
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')
const namedIn = ({ id, name, description }: Record<string, unknown>) => ({
  id: textIn(id),
  name: textIn(name),
  description: typeof description === 'string' ? description : null,
})

/** Throws `invalid_request`: this agent has no program that offers something. */
export function refuseHostChoice(agent: string): never {
  const detail = `The agent ${agent} is not hosted: it has no modes, commands or options. Leave out host.`
  throw new ServerError('invalid_request', detail, { problems: [{ pointer: '/host', detail }] })
}
