// Secrets of operator channels: in the keychain of the operating system, else in the environment. Never in a file of ours, where an agent
// could read them.

import { ServerError } from '../../domain/errors.ts'
import type { ChannelSettings } from '../../domain/settings/channel-settings.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import type { CredentialKind } from '../channel-kind.ts'
import { channels } from '../channels.ts'
import type { Keychain } from './keychain.ts'

const kinds = new Map(channels.flatMap(({ credentials }) => Object.entries(credentials)))

export const credentialNames: readonly string[] = [...kinds.keys()]

/** The variable that is read when the keychain has nothing. */
export const credentialVariable = (name: string): string => name.toUpperCase()

export interface CredentialSources {
  keychain: Keychain
  /** The environment of the process, without any `.env`: an agent may be able to write that. */
  env: Readonly<Record<string, string | undefined>>
}

export interface FoundCredential {
  /** Null: it is nowhere, or cannot be right. */
  value: string | null
  /** Null: nowhere. */
  from: 'keychain' | 'environment' | null
  /** Why the channel cannot start, with how to mend it; null: it can. */
  problem: string | null
  /** The environment has another value than the keychain. It is ignored, and people may not expect that. */
  isConflicting: boolean
}

/** The keychain wins. One that cannot be opened counts as empty. */
export async function findCredential(
  name: string,
  { isRequired }: Pick<CredentialKind, 'isRequired'>,
  { keychain, env }: CredentialSources,
): Promise<FoundCredential> {
  // Asked once: a keychain that is locked takes ten seconds.
  const { value: kept, problem: broken } = await keychain.get(name)
  const variable = credentialVariable(name)
  const given = env[variable]?.trim() || null
  const value = kept ?? given
  if (value === null) {
    const why = broken === null ? '' : ` The keychain cannot be used here: ${broken}.`
    const missing = `The credential ${name} is missing. Put it into the keychain with \`quarterdeck ctl credential set ${name}\`, or set ${variable} in the environment.${why}`
    return { value, from: null, problem: isRequired ? missing : null, isConflicting: false }
  }
  const wrong = credentialProblem(name, value)
  const place = kept === null ? `in ${variable}` : 'in the keychain'
  return {
    value: wrong === null ? value : null,
    from: kept === null ? 'environment' : 'keychain',
    problem: wrong === null ? null : `The credential ${place} cannot be right: ${wrong}`,
    isConflicting: kept !== null && given !== null && kept !== given,
  }
}

/** What is wrong with a value, or null. Slack's two tokens are easily mixed up. */
export function credentialProblem(name: string, value: string): string | null {
  const kind = kinds.get(name)
  if (kind === undefined || (value.length <= 1_000 && kind.isRight(value))) return null
  return `${name} must be ${kind.expected}.`
}

// Reads the credentials that the configured channels need. Where no channel needs one, nobody asks the keychain.

interface ConfiguredChannels {
  supervision: SupervisionSettings
  channels: ChannelSettings
}

/** The kinds that the settings ask for, each with its own settings. */
export const usedChannels = ({ supervision, channels: { own } }: ConfiguredChannels) =>
  channels
    .map((kind) => ({ kind, configured: { settings: own[kind.name], supervision } }))
    .filter(({ kind, configured }) => kind.isUsed(configured))

/** By name. Null: not set, and the channel works without it. What no configured channel needs is left out. */
export type ChannelCredentials = Readonly<Record<string, string | null>>

/** Throws `config_invalid` for everything that is required and missing, and for what cannot be right. */
export async function readChannelCredentials(
  settings: ConfiguredChannels,
  sources: CredentialSources,
): Promise<ChannelCredentials> {
  const values: Record<string, string | null> = {}
  const problems: string[] = []
  for (const [name, kind] of usedChannels(settings).flatMap((used) => Object.entries(used.kind.credentials))) {
    const { value, problem } = await findCredential(name, kind, sources)
    values[name] = value
    if (problem !== null) problems.push(problem)
  }
  // Together: whoever sets one and starts again should not be told of the next only then.
  if (problems.length > 0) throw new ServerError('config_invalid', problems.join('\n'))
  return values
}
