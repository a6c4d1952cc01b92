import type { JsonSchema, McpServerSettings } from '../../../domain/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import type { McpConnection, Session } from '../connection/mcp-connection.ts'
import { serversOwnError } from '../connection/mcp-failure.ts'
import { bounded } from './content-text.ts'
import type { ServerIdentity } from './server-identity.ts'
import { safeName } from './tool-names.ts'

/** A tool of our own that reads what the server has beside its tools. */
export function createExtraTool(
  settings: McpServerSettings,
  session: Session,
  server: ServerIdentity,
  tool: {
    name: string
    description: string
    parameters: JsonSchema
    read: (connection: McpConnection, input: Record<string, unknown>, signal: AbortSignal) => Promise<string>
  },
): ServerTool {
  const { timeoutMs, retries, approval } = settings
  return {
    location: 'server',
    name: safeName(`${settings.name}_${tool.name}`),
    description: tool.description,
    parameters: tool.parameters,
    returns: null,
    effect: 'read',
    risk: settings.risk === 'critical' ? 'critical' : 'low',
    timeoutMs,
    retries,
    approval,
    predictState: [],
    binding: toolBinding('mcp', { server, reads: tool.name }),
    call: (call, signal) =>
      session(signal, async (connection) => {
        try {
          return { content: bounded(await tool.read(connection, call.arguments, signal)), isError: false }
        } catch (error) {
          signal.throwIfAborted()
          const said = serversOwnError(connection.sdk, error)
          if (said === undefined) throw error
          return { content: said, isError: true }
        }
      }),
  }
}

/** As JSON, one to a line, so that a model can pick and a bound cuts between them. */
export const lines = (items: readonly unknown[], none: string): string =>
  items.length === 0 ? none : items.map((item) => JSON.stringify(item)).join('\n')
