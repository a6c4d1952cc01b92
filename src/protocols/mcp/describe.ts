// The door in OpenAPI. What the messages mean is MCP's business; only the frame is described.

import { z } from 'zod'
import type { RouteDescription } from '../../http/route-description.ts'

const tag = 'MCP'

const MessageSchema = z
  .looseObject({ jsonrpc: z.literal('2.0') })
  .meta({ id: 'JsonRpcMessage', description: 'A JSON-RPC 2.0 message of the Model Context Protocol.' })

export const McpErrorSchema = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.int(), z.null()]),
    error: z.strictObject({ code: z.int(), message: z.string(), data: z.looseObject({}).optional() }),
  })
  .meta({ id: 'JsonRpcError' })

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

export const describePost: RouteDescription = {
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
}

export const describeGet: RouteDescription = {
  tag,
  description:
    'The stream of what the server says without being asked, for clients up to 2025-11-25. `Last-Event-ID` resumes a stream.',
  query,
  headers: { ...sessionHeader, 'Last-Event-ID': z.string().optional().describe('The last event that you saw.') },
  responses: {
    200: { description: 'Messages.', content: { 'text/event-stream': { schema: MessageSchema } } },
  },
  errors: ['invalid_request', 'session_not_found', 'not_acceptable', 'conflict', 'method_not_allowed'],
}

export const describeDelete: RouteDescription = {
  tag,
  description: 'Ends an MCP session of a client up to 2025-11-25. What its agent asked stays.',
  query,
  headers: sessionHeader,
  responses: { 200: { description: 'The session has ended.' } },
  errors: ['invalid_request', 'session_not_found', 'method_not_allowed'],
}

export const describeMoved: RouteDescription = {
  tag,
  description: 'Answers 410: this transport of 2024 is not served. Use `/mcp`.',
  responses: {},
  errors: ['route_moved'],
}
