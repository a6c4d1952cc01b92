import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import type { AgentDefinition, ModelSettings } from '../../../domain/agent.ts'
import { toolSecrets, urlSecrets } from './tool-secrets.ts'

/** Every secret of the settings and of the agents' files. They are masked wherever text leaves the server. */
export const serverSecrets = ({
  settings: { auth, telemetry },
  agents,
}: {
  settings: Pick<ServerSettings, 'auth' | 'telemetry'>
  agents: readonly AgentDefinition[]
}): string[] =>
  [auth.token, auth.operatorToken, ...Object.values(telemetry?.headers ?? {}), ...agents.flatMap(keysOf)].flatMap(
    (secret) => (secret === null || secret === 'none' ? [] : [secret]),
  )

const keysOf = ({ model, judge, tools }: AgentDefinition): string[] => [
  ...modelKeys(model),
  ...(judge === null ? [] : modelKeys(judge)),
  ...tools.flatMap(toolSecrets),
]

const modelKeys = ({ apiKey, baseUrl, proxy, fallback }: ModelSettings): string[] => [
  ...(apiKey === undefined ? [] : [apiKey]),
  ...urlSecrets(baseUrl ?? ''),
  ...urlSecrets(proxy || ''),
  ...(fallback === undefined ? [] : modelKeys(fallback)),
]
