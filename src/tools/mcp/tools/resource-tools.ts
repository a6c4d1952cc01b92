import type { McpServerSettings } from '../../../domain/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'
import type { WithConnection } from '../connection/with-connection.ts'
import { resourceText } from './content-text.ts'
import { createReadOnlyTool, jsonLines } from './read-only-tool.ts'
import type { ServerIdentity } from './server-identity.ts'

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
