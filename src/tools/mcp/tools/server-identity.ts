import type { McpServerSettings } from '../../../domain/tool-settings.ts'
import type { McpConnection } from '../connection/mcp-connection.ts'

/** Which server it is: how it is started or reached, and what it calls itself. Approvals of its tools are bound to it. */
export interface ServerIdentity {
  settings: unknown
  /** Of an HTTP server, by value in any case: that must never be another one under an old yes. */
  origin: string | null
  name: string | null
  version: string | null
}

export function serverIdentity({ connection, bound }: McpServerSettings, { client }: McpConnection): ServerIdentity {
  const said = client.getServerVersion()
  return {
    settings: bound ?? connection,
    origin: connection.kind === 'http' ? new URL(connection.url).origin : null,
    name: said?.name ?? null,
    version: said?.version ?? null,
  }
}
