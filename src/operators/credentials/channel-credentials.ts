// Reads the credentials that the configured channels need. Where no channel needs one, nobody asks the keychain.

import type { ChannelSettings } from '../../domain/channel-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisionSettings } from '../../domain/supervision-settings.ts'
import type { ChannelKind } from '../channel-kind.ts'
import { channels } from '../channels.ts'
import {
  type Credential,
  type CredentialSources,
  credentialProblem,
  credentialVariable,
  findCredential,
  requireCredential,
} from './credentials.ts'

export interface ConfiguredChannels {
  supervision: SupervisionSettings
  channels: Pick<ChannelSettings, 'own'>
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
  kinds: readonly Pick<ChannelKind, 'credentials'>[],
  sources: CredentialSources,
): Promise<ChannelCredentials> {
  const found: Record<string, string | null> = {}
  const problems: string[] = []
  for (const [name, { isRequired }] of kinds.flatMap(({ credentials }) => Object.entries(credentials))) {
    try {
      const credential = await (isRequired ? requireCredential : findCredential)(name, sources)
      found[name] = credential === null ? null : plausible(name, credential)
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      problems.push(error.message)
    }
  }
  // Together: whoever sets one and starts again should not be told of the next only then.
  if (problems.length > 0) throw new ServerError('config_invalid', problems.join('\n'))
  return found
}

function plausible(name: string, { value, from }: Credential): string {
  const problem = credentialProblem(name, value)
  if (problem === null) return value
  const place = from === 'keychain' ? 'in the keychain' : `in ${credentialVariable(name)}`
  throw new ServerError('config_invalid', `The credential ${place} cannot be right: ${problem}`)
}
