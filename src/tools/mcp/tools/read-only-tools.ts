import type { JsonSchema, McpServerSettings } from '../../../domain/agent/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { toolBinding } from '../../tool-binding.ts'
import { type McpConnection, NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'
import { serversOwnError } from '../connection/mcp-failure.ts'
import type { WithConnection } from '../connection/with-connection.ts'
import { blockText, bounded, resourceText } from './content-text.ts'
import { type ServerIdentity, shownCall } from './server-identity.ts'
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
    action: () => shownCall(tool.name, settings),
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

/** Tools that let the model list and get the prompts of a server. */
export function createPromptTools(
  settings: McpServerSettings,
  withConnection: WithConnection,
  identity: ServerIdentity,
): ServerTool[] {
  const server = JSON.stringify(settings.name)
  return [
    createReadOnlyTool(settings, withConnection, identity, {
      name: 'list_prompts',
      description: `Lists the prompts that the MCP server ${server} has prepared, with their arguments.`,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      async read({ client }, _input, signal) {
        const { prompts } = await client.listPrompts(undefined, { signal, timeout: NO_TIMEOUT_MS })
        const shown = prompts.map(({ name, description, arguments: input }) => ({
          name,
          description,
          arguments: input,
        }))
        return jsonLines(shown, 'There are no prompts.')
      },
    }),
    createReadOnlyTool(settings, withConnection, identity, {
      name: 'get_prompt',
      description: `Gives one prompt of the MCP server ${server}, filled in with the arguments.`,
      parameters: {
        type: 'object',
        properties: {
          name: { type: 'string', description: 'As listed.' },
          arguments: { type: 'object', additionalProperties: { type: 'string' }, description: 'By name.' },
        },
        required: ['name'],
        additionalProperties: false,
      },
      async read({ client }, input, signal) {
        const { messages } = await client.getPrompt(
          { name: String(input.name), arguments: textsOf(input.arguments) },
          { signal, timeout: NO_TIMEOUT_MS },
        )
        return messages.map(({ role, content }) => `${role}: ${blockText(content)}`).join('\n\n')
      },
    }),
  ]
}

/** MCP allows only strings as arguments of a prompt. */
function textsOf(input: unknown): Record<string, string> {
  const entries = typeof input === 'object' && input !== null ? Object.entries(input) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

/** Tools that let the model list and read the resources of a server. */
export function createResourceTools(
  settings: McpServerSettings,
  withConnection: WithConnection,
  identity: ServerIdentity,
): ServerTool[] {
  const server = JSON.stringify(settings.name)
  return [
    createReadOnlyTool(settings, withConnection, identity, {
      name: 'list_resources',
      description: `Lists what the MCP server ${server} has to read: resources by uri, and templates of uris.`,
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      async read({ client }, _input, signal) {
        const options = { signal, timeout: NO_TIMEOUT_MS }
        const { resources } = await client.listResources(undefined, options)
        // Many servers have no templates, and some of them do not know this request.
        const { resourceTemplates } = await client.listResourceTemplates(undefined, options).catch(() => ({
          resourceTemplates: [],
        }))
        return jsonLines(
          [
            ...resources.map(({ uri, name, description, mimeType }) => ({ uri, name, description, mimeType })),
            ...resourceTemplates.map(({ uriTemplate, name, description, mimeType }) => ({
              uriTemplate,
              name,
              description,
              mimeType,
            })),
          ],
          'There are no resources.',
        )
      },
    }),
    createReadOnlyTool(settings, withConnection, identity, {
      name: 'read_resource',
      description: `Reads one resource of the MCP server ${server}.`,
      parameters: {
        type: 'object',
        properties: { uri: { type: 'string', description: 'As listed, or made from a listed template.' } },
        required: ['uri'],
        additionalProperties: false,
      },
      async read({ client }, input, signal) {
        const { contents } = await client.readResource({ uri: String(input.uri) }, { signal, timeout: NO_TIMEOUT_MS })
        return contents.length === 0 ? 'The resource is empty.' : contents.map(resourceText).join('\n')
      },
    }),
  ]
}
