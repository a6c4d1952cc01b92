// In the document, only the frame of MCP is described. What the messages mean is MCP's business.

import { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import type { Route } from '../../http/route.ts'
import type { McpDoor } from './mcp-door.ts'

const tag = 'MCP'

const MessageSchema = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'JsonRpcMessage', description: 'A JSON-RPC 2.0 message of the Model Context Protocol.' })

const query = {
  workspace: z.string().optional().describe('A folder in the folder of the token, where the agent works.'),
  session_id: z.string().optional().describe('The supervised session that the calls belong to.'),
  channel_id: z.string().optional().describe('The channel that the session reports to.'),
  limit_seconds: z
    .string()
    .optional()
    .describe('How long the host lets a call block, 1 to 86400. Left out: what is known about the host.'),
  token: z.string().optional().describe('The token, for agents on this machine that cannot send a header.'),
}

const sessionHeader = { 'Mcp-Session-Id': z.string().optional().describe('The MCP session, up to 2025-11-25.') }

export function createMcpRoutes({ door }: { door: Pick<McpDoor, 'handle'> }): Route[] {
  const mcp = { path: '/mcp', door: 'mcp', role: 'agent', handle: door.handle } as const
  return [
    {
      ...mcp,
      method: 'POST',
      body: 'files',
      summary: 'MCP: send a message',
      describe: () => ({
        tag,
        description:
          'Streamable HTTP of the Model Context Protocol, for coding agents that a person supervises. Takes both eras: up to 2025-11-25 with ' +
          '`initialize` and a session, 2026-07-28 without.',
        query,
        headers: sessionHeader,
        body: {
          schema: z.union([MessageSchema, z.array(MessageSchema)]),
          examples: { list: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
        },
        responses: {
          200: {
            description: 'The answer, with what the server tells meanwhile.',
            content: { 'text/event-stream': { schema: MessageSchema } },
          },
          202: { description: 'A notification or a response was taken.' },
        },
        errors: ['invalid_request', 'session_not_found', 'not_acceptable'],
      }),
    },
    {
      ...mcp,
      method: 'GET',
      body: 'none',
      summary: 'MCP: open or resume a stream',
      describe: () => ({
        tag,
        description:
          'The stream of what the server says without being asked, for clients up to 2025-11-25. `Last-Event-ID` resumes a stream.',
        query,
        headers: { ...sessionHeader, 'Last-Event-ID': z.string().optional().describe('The last event that you saw.') },
        responses: {
          200: { description: 'Messages.', content: { 'text/event-stream': { schema: MessageSchema } } },
        },
        errors: ['invalid_request', 'session_not_found', 'not_acceptable', 'conflict', 'method_not_allowed'],
      }),
    },
    {
      ...mcp,
      method: 'DELETE',
      body: 'none',
      summary: 'MCP: end a session',
      describe: () => ({
        tag,
        description: 'Ends an MCP session of a client up to 2025-11-25. What its agent asked stays.',
        query,
        headers: sessionHeader,
        responses: { 200: { description: 'The session has ended.' } },
        errors: ['invalid_request', 'session_not_found', 'method_not_allowed'],
      }),
    },
    ...['/sse', '/messages'].flatMap((path) => [moved('GET', path), moved('POST', path)]),
  ]
}

/** The transport of 2024. A client that still tries it learns where to go. */
function moved(method: 'GET' | 'POST', path: string): Route {
  return {
    method,
    path,
    door: 'mcp',
    role: 'public',
    body: 'none',
    summary: 'MCP: a transport of 2024 that is not served',
    describe: () => ({
      tag,
      description: 'Answers 410: this transport of 2024 is not served. Use `/mcp`.',
      responses: {},
      errors: ['route_moved'],
    }),
    async handle() {
      throw new ServerError(
        'route_moved',
        `${path} belongs to the HTTP+SSE transport of 2024, which is not served. Use Streamable HTTP at /mcp.`,
        { details: { location: '/mcp' } },
      )
    },
  }
}
