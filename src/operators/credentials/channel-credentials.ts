// Which credentials the configured channels need. Where no channel needs one, nobody asks the keychain.

import type { ChannelSettings } from '../../domain/channel-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { SupervisionSettings } from '../../domain/supervision-settings.ts'
import {
  type Credential,
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

/** Throws `config_invalid` for everything that is required and missing, and for what cannot be right. */
export async function readChannelCredentials(
  settings: ConfiguredChannels,
  sources: CredentialSources,
): Promise<ChannelCredentials> {
  const needs = credentialNeeds(settings)
  const problems: string[] = []
  const read = async (name: CredentialName): Promise<string | null> => {
    const isRequired = needs[name]
    if (isRequired === undefined) return null
    try {
      const found = await (isRequired ? requireCredential : findCredential)(name, sources)
      return found === null ? null : plausible(name, found)
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      problems.push(error.message)
      return null
    }
  }
  const app = await read('slack_app_token')
  const bot = await read('slack_bot_token')
  const teamId = await read('slack_team_id')
  const ntfyToken = await read('ntfy_token')
  const webhookSecret = await read('webhook_secret')
  // Together: whoever sets one and starts again should not be told of the next only then.
  if (problems.length > 0) throw new ServerError('config_invalid', problems.join('\n'))
  const slack = app === null || bot === null ? null : { tokens: { app, bot }, teamId }
  return { slack, ntfyToken, webhookSecret }
}

function plausible(name: CredentialName, { value, from }: Credential): string {
  const problem = credentialProblem(name, value)
  if (problem === null) return value
  const place = from === 'keychain' ? 'in the keychain' : `in ${credentialVariable(name)}`
  throw new ServerError('config_invalid', `The credential ${place} cannot be right: ${problem}`)
}
