// What a client can choose in the session of a hosted agent: how it is told, out of the session's state, and how it is sent.

import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import { acpOf } from '../../../hosts/hosts.ts'

const id = z.string().max(1_000)

/** As `forwardedProps.host` of AG-UI. */
export const HostChoiceSchema = z
  .strictObject({
    mode: id.exactOptional().describe('Id of a mode.'),
    command: id.exactOptional().describe('Name of a command. The message follows it.'),
    config: z
      .record(id, z.union([id, z.boolean()]))
      .exactOptional()
      .describe('Values of options, by their ids.'),
  })
  .describe('For hosted agents: what their program offers. It lasts until something else is chosen.')
  .meta({ id: 'HostChoice' })
export type HostChoice = z.output<typeof HostChoiceSchema>

const text = z.string()
const named = z.strictObject({ id: text, name: text, description: text.nullable() })

export const HostStateSchema = z
  .strictObject({
    mode: text.nullable().describe('Null: the program has no modes, or has not told yet.'),
    modes: z.array(named).describe('Without those in which nobody would be asked.'),
    commands: z.array(z.strictObject({ name: text, description: text, hint: text.nullable() })),
    config: z.array(
      named.extend({
        value: z.union([text, z.boolean()]),
        values: z
          .array(z.strictObject({ value: text, name: text }))
          .nullable()
          .describe('Null: it is on or off.'),
      }),
    ),
    usage: z
      .strictObject({
        used: z.number().describe('Tokens in the context now.'),
        size: z.number().describe('Tokens that fit.'),
        cost: z
          .strictObject({ amount: z.number(), currency: text })
          .nullable()
          .describe('Null: the program does not tell.'),
      })
      .nullable()
      .describe('Null: the program does not tell.'),
  })
  .meta({ id: 'HostState' })
/** What the program of a hosted agent offers, and how full its context is. */
export type HostState = z.output<typeof HostStateSchema>

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
