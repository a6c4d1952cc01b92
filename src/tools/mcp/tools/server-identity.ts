import type { McpServerSettings } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { boundPart, shownCommand, shownUrl, writtenText } from '../../shown-settings.ts'
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

/** What a call of a tool of this server does, for the person who decides: the tool, the server, and its program or address. */
export function shownCall(tool: string, { name, connection, bound }: McpServerSettings): string {
  const what = `calls ${tool} of the MCP server ${name}`
  if (connection.kind === 'http') {
    const url = URL.parse(writtenText(boundPart(bound, 'url')) ?? connection.url) ?? new URL(connection.url).origin
    return `${what} at ${typeof url === 'string' ? url : shownUrl(url)}`
  }
  const list = boundPart(bound, 'args')
  const written: unknown = isRecord(list) ? list.list : undefined
  const args = Array.isArray(written)
    ? written.map((one, i) => writtenText(one) ?? connection.args[i] ?? '')
    : connection.args
  return `${what}: ${shownCommand(connection.command, args)}`
}
