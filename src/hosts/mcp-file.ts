import { bearer, type LaunchRequest, SERVER_NAME } from './host.ts'

/** The JSON file with MCP servers that most hosts take. */
export function mcpFile({ mcpUrl, agentToken }: LaunchRequest, more: Readonly<Record<string, unknown>> = {}): string {
  const entry = { type: 'http', url: mcpUrl, headers: bearer(agentToken), ...more }
  return `${JSON.stringify({ mcpServers: { [SERVER_NAME]: entry } }, null, 2)}\n`
}
