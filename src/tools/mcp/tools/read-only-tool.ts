import type { JsonSchema, McpServerSettings } from '../../../domain/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import type { McpConnection } from '../connection/mcp-connection.ts'
import { serversOwnError } from '../connection/mcp-failure.ts'
import type { WithConnection } from '../connection/with-connection.ts'
import { bounded } from './content-text.ts'
import type { ServerIdentity } from './server-identity.ts'
import { safeName } from './tool-names.ts'

/** A tool of our own that reads what a server offers besides tools: resources and prompts. */
export function createReadOnlyTool(
  settings: McpServerSettings,
  withConnection: WithConnection,
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
      withConnection(signal, async (connection) => {
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

/** One JSON line for each item, so that a model can choose and a cut falls between items. */
export const jsonLines = (items: readonly unknown[], none: string): string =>
  items.length === 0 ? none : items.map((item) => JSON.stringify(item)).join('\n')
