import type { Resource, ResourceTemplateType } from '@modelcontextprotocol/client'
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
interface Reader {
  name: string
  description: string
  parameters: JsonSchema
  read(connection: McpConnection, input: Record<string, unknown>, options: RequestOptions): Promise<string>
}

type RequestOptions = { signal: AbortSignal; timeout: number }

/** Tools that let the model list and read what the server has besides tools, as far as the settings want it. */
export const createReadOnlyTools = (
  settings: McpServerSettings,
  { resources, prompts }: McpConnection['capabilities'],
  withConnection: WithConnection,
  identity: ServerIdentity,
): ServerTool[] =>
  [
    ...(settings.resources && resources !== undefined ? resourceReaders(JSON.stringify(settings.name)) : []),
    ...(settings.prompts && prompts !== undefined ? promptReaders(JSON.stringify(settings.name)) : []),
  ].map((reader) => createReadOnlyTool(settings, withConnection, identity, reader))

function createReadOnlyTool(
  settings: McpServerSettings,
  withConnection: WithConnection,
  server: ServerIdentity,
  tool: Reader,
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
          const content = await tool.read(connection, call.arguments, { signal, timeout: NO_TIMEOUT_MS })
          return { content: bounded(content), isError: false }
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
const jsonLines = (items: readonly unknown[], none: string): string =>
  items.length === 0 ? none : items.map((item) => JSON.stringify(item)).join('\n')

const promptReaders = (server: string): Reader[] => [
  {
    name: 'list_prompts',
    description: `Lists the prompts that the MCP server ${server} has prepared, with their arguments.`,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    async read({ client }, _input, options) {
      const { prompts } = await client.listPrompts(undefined, options)
      const shown = prompts.map(({ name, description, arguments: input }) => ({ name, description, arguments: input }))
      return jsonLines(shown, 'There are no prompts.')
    },
  },
  {
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
    async read({ client }, input, options) {
      const wanted = { name: String(input.name), arguments: textsOf(input.arguments) }
      const { messages } = await client.getPrompt(wanted, options)
      return messages.map(({ role, content }) => `${role}: ${blockText(content)}`).join('\n\n')
    },
  },
]

/** MCP allows only strings as arguments of a prompt. */
function textsOf(input: unknown): Record<string, string> {
  const entries = typeof input === 'object' && input !== null ? Object.entries(input) : []
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

const aboutOf = ({ name, description, mimeType }: Resource | ResourceTemplateType) => ({ name, description, mimeType })

const resourceReaders = (server: string): Reader[] => [
  {
    name: 'list_resources',
    description: `Lists what the MCP server ${server} has to read: resources by uri, and templates of uris.`,
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    async read({ client }, _input, options) {
      const { resources } = await client.listResources(undefined, options)
      const listTemplates = client.listResourceTemplates(undefined, options)
      // Many servers have no templates, and some of them do not know this request.
      const { resourceTemplates } = await listTemplates.catch(() => ({ resourceTemplates: [] }))
      const templates = resourceTemplates.map((one) => ({ uriTemplate: one.uriTemplate, ...aboutOf(one) }))
      const shown = resources.map((one) => ({ uri: one.uri, ...aboutOf(one) }))
      return jsonLines([...shown, ...templates], 'There are no resources.')
    },
  },
  {
    name: 'read_resource',
    description: `Reads one resource of the MCP server ${server}.`,
    parameters: {
      type: 'object',
      properties: { uri: { type: 'string', description: 'As listed, or made from a listed template.' } },
      required: ['uri'],
      additionalProperties: false,
    },
    async read({ client }, input, options) {
      const { contents } = await client.readResource({ uri: String(input.uri) }, options)
      return contents.length === 0 ? 'The resource is empty.' : contents.map(resourceText).join('\n')
    },
  },
]
