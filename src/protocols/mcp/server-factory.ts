// Makes SDK servers. The SDK wants a new one for each legacy session and for each modern request, so they hold no state.

import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceTemplate,
  Server,
  type ServerContext,
  type ServerEventBus,
  type ServerOptions,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { McpAgent, McpResource, McpTool } from './tool-table.ts'

export interface ServerParts {
  version: string
  /** Tells the model what this server is for. */
  instructions: string
  tools: readonly McpTool[]
  resources: readonly McpResource[]
  log: Logger
  extension: McpExtension | null
}

/** Adds more to every server than the tables of tools and resources can say. */
export interface McpExtension {
  serverOptions: Pick<ServerOptions, 'requestState'>
  addTo(server: McpServer): void
  /** Tells modern clients that listen what has changed. */
  bus: ServerEventBus
}

export interface ServerCallbacks {
  agentOf(context: ServerContext, server: Server): McpAgent
  call(tool: McpTool, input: unknown, agent: McpAgent, context: ServerContext): Promise<CallToolResult>
}

export interface ServerFactory {
  /** With all tools and resources. */
  whole(): McpServer
  /** For one call of this tool. It lives as long as its call, and everything else in it would only take memory: 3.5 KB. */
  ofTool(tool: McpTool): Server
}

export function createServerFactory(parts: ServerParts, { agentOf, call }: ServerCallbacks): ServerFactory {
  const { version, instructions, tools, resources, log, extension } = parts
  const schemas = tools.map((tool) => ({ tool, inputSchema: unchecked(tool.input) }))
  const info = { name: 'quarterdeck', title: 'Quarterdeck', version }
  const options: ServerOptions = {
    ...extension?.serverOptions,
    instructions,
    capabilities: {
      tools: { listChanged: false },
      logging: {},
      ...(resources.length === 0 ? {} : { resources: { listChanged: false } }),
    },
  }

  function whole(): McpServer {
    const server = new McpServer(info, options)
    for (const { tool, inputSchema } of schemas) {
      const { title, description, annotations } = tool
      server.registerTool(
        tool.name,
        { title, description, inputSchema, ...(annotations === undefined ? {} : { annotations }) },
        (input, context) => call(tool, input, agentOf(context, server.server), context),
      )
    }
    for (const resource of resources) {
      for (const [i, uriTemplate] of resource.uriTemplates.entries()) {
        const { name, title, description, mimeType } = resource
        server.registerResource(
          i === 0 ? name : `${name}-${i + 1}`,
          new ResourceTemplate(uriTemplate, { list: undefined }),
          { title, description, mimeType },
          async (uri, _variables, context) => {
            const text = await read(
              resource,
              uri,
              { agent: agentOf(context, server.server), signal: context.mcpReq.signal },
              log,
            )
            return { contents: [{ uri: uri.href, mimeType, text }] }
          },
        )
      }
    }
    extension?.addTo(server)
    return server
  }

  return {
    whole,
    ofTool(tool) {
      const server = new Server(info, options)
      server.setRequestHandler('tools/call', ({ params }, context) =>
        call(tool, params.arguments, agentOf(context, server), context),
      )
      return server
    },
  }
}

/** Shown to clients, but not enforced by the SDK: its error would be a text for people, ours has a code. Converted once. */
function unchecked(schema: z.ZodObject): StandardSchemaWithJSON<unknown> {
  const { jsonSchema } = schema['~standard']
  let known: Record<string, unknown> | undefined
  return {
    '~standard': {
      version: 1,
      vendor: 'quarterdeck',
      validate: (value) => ({ value }),
      jsonSchema: {
        input: (options) => {
          known ??= jsonSchema.input(options)
          return known
        },
        output: (options) => jsonSchema.output(options),
      },
    },
  }
}

async function read(
  resource: McpResource,
  uri: URL,
  context: Parameters<McpResource['read']>[1],
  log: Logger,
): Promise<string> {
  try {
    return await resource.read(uri, context)
  } catch (error) {
    if (error instanceof ServerError) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, { code: error.code, uri: uri.href })
    }
    log.error('unexpected error', { error, resource: resource.name })
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The server could not read this. Its log has the reason.')
  }
}
