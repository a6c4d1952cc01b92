import type { McpServerSettings } from '../../../domain/tool-settings.ts'
import type { McpConnection } from '../connection/mcp-connection.ts'

/** Which server this is: how it is started or reached, and what it calls itself. Approvals of its tools are bound to this. */
export interface ServerIdentity {
  settings: unknown
  /** The host of an HTTP server, always by value, so that an old approval never covers another host. Null for a program. */
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
