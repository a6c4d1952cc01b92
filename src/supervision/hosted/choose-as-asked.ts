// Modes, commands and options of a hosted agent’s program that a client has chosen for its run.

import { ServerError } from '../../domain/errors.ts'
import type { Held } from './held-talks.ts'
import type { Working } from './working.ts'

/** Modes, commands and options that the client has chosen for this run. */
export async function chooseAsAsked({ lane, held: { talk, words } }: Working): Promise<void> {
  const { forwardedProps } = lane.scope.run.input
  const chosen = hostProps(forwardedProps)
  refuseBold(chosen, words)
  if (chosen.mode !== null && chosen.mode !== talk.modes?.currentModeId) {
    if (talk.modes?.availableModes.some(({ id }) => id === chosen.mode) !== true) {
      throw new ServerError('invalid_request', `The agent has no mode ${JSON.stringify(chosen.mode)}.`)
    }
    await talk.setMode(chosen.mode)
  }
  for (const [id, value] of Object.entries(chosen.config)) await talk.setConfig(id, value)
}

/** A client may not choose that nobody is asked. */
function refuseBold({ mode, config }: HostProps, { bold }: Held['words']): void {
  const option = Object.entries(config).find(([id, value]) => bold.options[id] === value)
  const what =
    mode !== null && bold.modes.includes(mode)
      ? `In the mode ${mode}`
      : option === undefined
        ? null
        : `With ${option.join(' ')}`
  if (what === null) return
  throw new ServerError(
    'forbidden',
    `${what}, the agent acts without asking, so it cannot be chosen here. Choose another one.`,
  )
}

interface HostProps {
  mode: string | null
  command: string | null
  config: Record<string, string | boolean>
}

/** `forwardedProps.host`: what does not fit is ignored, as AG-UI's other unknown properties are. */
export function hostProps(forwardedProps: unknown): HostProps {
  const host = at(forwardedProps, 'host')
  const [mode, command, config] = [at(host, 'mode'), at(host, 'command'), at(host, 'config')]
  const options = typeof config === 'object' && config !== null ? Object.entries(config) : []
  return {
    mode: typeof mode === 'string' ? mode : null,
    command: typeof command === 'string' && command !== '' ? command.replace(/^\/+/, '') : null,
    config: Object.fromEntries(options.filter(([, value]) => typeof value === 'string' || typeof value === 'boolean')),
  }
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
