// Reads the credentials that the configured channels need. Where no channel needs one, nobody asks the keychain.

import { ServerError } from '../../domain/errors.ts'
import type { ChannelSettings } from '../../domain/settings/channel-settings.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { channels } from '../channels.ts'
import { type CredentialSources, findCredential } from './credentials.ts'

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
