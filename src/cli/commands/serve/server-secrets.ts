import type { ServerSettings } from '../../../config/settings/server-settings.ts'
import type { AgentDefinition, ModelSettings } from '../../../domain/agent.ts'
import { isPostgres } from '../../../domain/store-settings.ts'
import { headerSecrets, toolSecrets, urlSecrets } from './tool-secrets.ts'

/** Every secret of the settings and of the agents' files. They are masked wherever text leaves the server. */
export const serverSecrets = ({
  settings: { auth, store, telemetry },
  agents,
}: {
  settings: Pick<ServerSettings, 'auth' | 'store' | 'telemetry'>
  agents: readonly AgentDefinition[]
}): string[] =>
  [
    auth.token,
    auth.operatorToken,
    ...(isPostgres(store) ? urlSecrets(store.url) : []),
    ...headerSecrets(telemetry?.headers ?? {}),
    ...agents.flatMap(keysOf),
  ].flatMap((secret) => (secret === null || secret === 'none' ? [] : [secret]))

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
