// Which credentials the configured channels need. Where no channel needs one, nobody asks the keychain.

import type { ChannelSettings } from '../../domain/channel-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisionSettings } from '../../domain/supervision-settings.ts'
import {
  type CredentialName,
  type CredentialSources,
  credentialProblem,
  credentialVariable,
  findCredential,
  requireCredential,
} from './credentials.ts'

export interface ConfiguredChannels {
  supervision: Pick<SupervisionSettings, 'slack' | 'operators'>
  channels: Pick<ChannelSettings, 'webhooks'>
}

/** By the channel that needs them. `true`: the channel cannot work without it. */
export type CredentialNeeds = Partial<Record<CredentialName, boolean>>

export const usesSlack = ({ supervision }: Pick<ConfiguredChannels, 'supervision'>): boolean =>
  supervision.slack.channels.length > 0

export const usesNtfy = ({ supervision }: Pick<ConfiguredChannels, 'supervision'>): boolean =>
  supervision.operators.some(({ ntfy }) => ntfy !== null)

export const credentialNeeds = (settings: ConfiguredChannels): CredentialNeeds => ({
  ...(usesSlack(settings) ? { slack_app_token: true, slack_bot_token: true, slack_team_id: false } : {}),
  ...(usesNtfy(settings) ? { ntfy_token: false } : {}),
  ...(settings.channels.webhooks.length > 0 ? { webhook_secret: true } : {}),
})

/** Null: not configured, or not needed. */
export interface ChannelCredentials {
  slack: { tokens: { app: string; bot: string }; teamId: string | null } | null
  ntfyToken: string | null
  webhookSecret: string | null
}

/** Throws `config_invalid` for a required one that is missing, and for one that cannot be right. */
export async function readChannelCredentials(
  settings: ConfiguredChannels,
  sources: CredentialSources,
): Promise<ChannelCredentials> {
  const needs = credentialNeeds(settings)
  const read = async (name: CredentialName): Promise<string | null> => {
    const isRequired = needs[name]
    if (isRequired === undefined) return null
    const found = await (isRequired ? requireCredential : findCredential)(name, sources)
    if (found === null) return null
    const problem = credentialProblem(name, found.value)
    if (problem === null) return found.value
    const place = found.from === 'keychain' ? 'in the keychain' : `in ${credentialVariable(name)}`
    throw new ServerError('config_invalid', `The credential ${place} cannot be right: ${problem}`, {
      details: { credential: name },
    })
  }
  const app = await read('slack_app_token')
  const bot = await read('slack_bot_token')
  const teamId = await read('slack_team_id')
  return {
    slack: app === null || bot === null ? null : { tokens: { app, bot }, teamId },
    ntfyToken: await read('ntfy_token'),
    webhookSecret: await read('webhook_secret'),
  }
}
