import type { ToolSettings } from '../domain/tool-settings.ts'
import { looksSecret } from '../supervision/shown-arguments.ts'

/** Shorter ones are words and numbers that a log is full of. */
const MIN_LENGTH = 8
/** What they say is public, and as a secret it would blank out half of a log. */
const harmlessHeaders = /^(?:accept(?:-.+)?|cache-control|content-type|user-agent)$/i

/** What the configuration of a tool holds that must not be seen: header values, an MCP server's environment, parts of URLs. */
export function toolSecrets(tool: ToolSettings): string[] {
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
    case 'function':
    case 'client':
    case 'agent':
    case 'prompt':
      return []
  }
}

/** `Bearer abc` is a secret, and so is `abc` alone. */
const headerSecrets = (headers: Record<string, string>): string[] =>
  Object.entries(headers)
    .filter(([name]) => !harmlessHeaders.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\w+\s+/, '')])

/** A name and password in a URL are refused where they are written. */
const urlSecrets = (text: string): string[] =>
  [...(URL.parse(text)?.searchParams ?? [])].flatMap(([name, value]) => (looksSecret(name) ? [value] : []))

const longEnough = (values: readonly string[]): string[] =>
  [...new Set(values)].filter((one) => one.length >= MIN_LENGTH)
