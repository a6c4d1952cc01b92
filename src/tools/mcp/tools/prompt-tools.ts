import type { McpServerSettings } from '../../../domain/tool-settings.ts'
import type { ServerTool } from '../../tool.ts'
import { NO_TIMEOUT_MS } from '../connection/mcp-connection.ts'
import type { WithConnection } from '../connection/with-connection.ts'
import { blockText } from './content-text.ts'
import { createReadOnlyTool, jsonLines } from './read-only-tool.ts'
import type { ServerIdentity } from './server-identity.ts'

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
