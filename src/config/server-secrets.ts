import type { AgentDefinition, ModelSettings } from '../domain/agent/agent.ts'
import type { ToolSettings } from '../domain/agent/tool-settings.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { decoded } from '../domain/text/decoded.ts'
import { looksSecret } from '../domain/text/secret-name.ts'
import type { ServerSettings } from './settings/server-settings.ts'

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

const keysOf = ({ model, tried = [], judge, summarizer, tools }: AgentDefinition): string[] => [
  ...[...(model === null ? [] : [model]), ...tried].flatMap(modelKeys),
  ...[judge, summarizer].flatMap((one) => (one === null ? [] : modelKeys(one))),
  ...tools.flatMap(toolSecrets),
]

const modelKeys = ({ apiKey, baseUrl, proxy, fallback }: ModelSettings): string[] => [
  ...(apiKey === undefined ? [] : [apiKey]),
  ...urlSecrets(baseUrl ?? ''),
  ...urlSecrets(proxy || ''),
  ...(fallback === undefined ? [] : modelKeys(fallback)),
]

/** Shorter values are ordinary words and numbers, which logs are full of. */
const MIN_LENGTH = 8
/** These are public, and masking them would hide half of the log. */
const harmlessHeaders = /^(?:accept(?:-.+)?|cache-control|content-type|user-agent)$/i

/** Secrets in the configuration of a tool: header values, an MCP server's environment, parts of URLs. */
function toolSecrets(tool: ToolSettings): string[] {
  switch (tool.type) {
    case 'http':
      return longEnough([...headerSecrets(tool.headers), ...urlSecrets(tool.url)])
    case 'openapi':
      return longEnough([...headerSecrets(tool.headers), ...urlSecrets(tool.baseUrl ?? '')])
    case 'mcp': {
      const { connection } = tool
      return longEnough(
        connection.kind === 'stdio'
          ? Object.values(connection.env)
          : [...headerSecrets(connection.headers), ...urlSecrets(connection.url)],
      )
    }
    case 'knowledge': {
      const { apiKey = '', baseUrl = '', proxy } = tool.embedding ?? {}
      return longEnough([apiKey, ...urlSecrets(baseUrl), ...urlSecrets(proxy || '')])
    }
    case 'function':
    case 'client':
    case 'agent':
    case 'prompt':
      return []
  }
}

/** `Bearer abc` is a secret, and so is `abc` alone. */
const headerSecrets = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers)
    .filter(([name]) => !harmlessHeaders.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+\s+/, '')])

/** A tool's URL has no password: the configuration refuses one. */
function urlSecrets(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const password = url.password === '' ? [] : [url.password, decoded(url.password)]
  // Google's way to send an API key.
  const isSecret = (name: string) => looksSecret(name) || name === 'key'
  return [...password, ...[...url.searchParams].flatMap(([name, value]) => (isSecret(name) ? [value] : []))]
}

const longEnough = (values: readonly string[]): string[] =>
  [...new Set(values)].filter((one) => one.length >= MIN_LENGTH)
