// Modes, commands and options of a hosted agent’s program that a client has chosen for its run.

import { untilAborted } from '../../domain/abort.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Held } from './held-talks.ts'
import type { Working } from './working.ts'

/** Modes, commands and options that the client has chosen for this run. */
export async function chooseAsAsked({ lane, held: { talk, words } }: Working): Promise<void> {
  const { run, signal } = lane.scope
  const chosen = hostProps(run.input.forwardedProps)
  refuseBold(chosen, words, talk.configOptions)
  if (chosen.mode !== null && chosen.mode !== talk.modes?.currentModeId) {
    if (talk.modes?.availableModes.some(({ id }) => id === chosen.mode) !== true) {
      throw new ServerError('invalid_request', `The agent has no mode ${JSON.stringify(chosen.mode)}.`)
    }
    await untilAborted(talk.setMode(chosen.mode), signal)
  }
  for (const [id, value] of Object.entries(chosen.config)) await untilAborted(talk.setConfig(id, value), signal)
}

/** A client may not choose that nobody is asked. Many programs offer their modes as an option too. */
function refuseBold(
  { mode, config }: HostProps,
  { bold }: Held['words'],
  options: Held['talk']['configOptions'],
): void {
  const isMode = (id: string): boolean =>
    id === 'mode' || options.some((one) => one.id === id && one.category === 'mode')
  const option = Object.entries(config).find(
    ([id, value]) => bold.options[id] === value || (isMode(id) && bold.modes.includes(String(value))),
  )
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
