// For tests: the MCP door behind a real HTTP server, with small tools, and the real client in both eras.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { createSystemClock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import { createIds } from '../../../domain/ids.ts'
import { noTelemetry } from '../../../domain/telemetry.ts'
import {
  agentToken,
  collectLines,
  createManualClock,
  knownToken,
  type LogLine,
  operatorToken,
  startServer,
  type TestServerOptions,
  userToken,
} from '../../../http/testing/server-fixture.ts'
import type { McpConnections } from '../../../supervision/sessions/mcp-connections.ts'
import { mcpErrorShape } from '../error-shape.ts'
import { createLaterDoor, usualSessionLimits } from '../later-door.ts'
import type { SessionLimits } from '../legacy-sessions.ts'
import type { McpDoorOptions } from '../mcp-door.ts'
import { createOpenClients } from '../open-clients.ts'
import { createMcpRoutes } from '../routes.ts'
import type { McpCallContext, McpTool } from '../tool-table.ts'

export const otherAgentToken = {
  ...knownToken('other-agent-token-of-these-tests', 'bob', 'agent'),
  id: 'token-of-another-agent',
  workspace: '/home/bob/shop',
}

const echo: McpTool = {
  name: 'echo',
  title: 'Echo',
  description: 'Says it again.',
  input: z.strictObject({ text: z.string().max(5_000_000), times: z.int().min(1).default(1) }),
  annotations: { readOnlyHint: true },
  call: async ({ text, times }) => ({ structured: { text, times }, isError: false }),
}

export interface Holding {
  context: McpCallContext
  answer(structured: Record<string, unknown>): void
}

/** Calls of the tool `hold` end when the test says so. */
function createHold(): { tool: McpTool; calls: Holding[]; next(): Promise<Holding> } {
  const calls: Holding[] = []
  let onCall: (call: Holding) => void = () => {}
  const tool: McpTool = {
    name: 'hold',
    title: 'Hold',
    description: 'Waits.',
    input: z.object({ say: z.string().optional() }),
    call: ({ say }, context) =>
      new Promise((resolve) => {
        if (typeof say === 'string') context.progress(say)
        const call = {
          context,
          answer: (structured: Record<string, unknown>) => resolve({ structured, isError: false }),
        }
        calls.push(call)
        onCall(call)
      }),
  }
  return {
    tool,
    calls,
    next: () =>
      new Promise((resolve) => {
        onCall = resolve
      }),
  }
}

const failing = (name: string, error: Error): McpTool => ({
  name,
  title: name,
  description: 'Fails.',
  input: z.object({}),
  call: () => Promise.reject(error),
})

/** Nothing outlives the door. */
const noConnections: McpConnections = {
  find: async () => null,
  keep: async () => {},
  forget: async () => {},
  others: null,
}

export interface DoorSetUp {
  door?: Partial<Omit<McpDoorOptions, 'limits'>> & { limits?: Partial<SessionLimits> }
  server?: Partial<TestServerOptions>
}

export async function openMcpDoor(setUp: DoorSetUp = {}) {
  const clock = createManualClock()
  const hold = createHold()
  const lines: LogLine[] = []
  const ended: string[] = []
  const clients = setUp.door?.clients ?? createOpenClients()
  const door = createLaterDoor(async () => ({
    clients,
    version: '0.0.0-test',
    instructions: 'Ask before you write.',
    tools: [
      echo,
      hold.tool,
      failing('refused', new ServerError('conflict', 'Somebody else was first.')),
      failing('broken', new Error('the secret reason')),
    ],
    resources: [],
    clock,
    ids: createIds(() => Date.now()),
    log: collectLines(lines),
    onEnd: async (connectionId) => void ended.push(connectionId),
    telemetry: noTelemetry,
    connections: noConnections,
    extension: null,
    ...setUp.door,
    limits: { ...usualSessionLimits, ...setUp.door?.limits },
  }))
  const tokens = [userToken, operatorToken, agentToken, otherAgentToken]
  const server = await startServer({
    routes: createMcpRoutes({ door }),
    errorShapes: { mcp: mcpErrorShape, sse: mcpErrorShape, messages: mcpErrorShape },
    clock: createSystemClock(),
    ...setUp.server,
    auth: { tokens: () => tokens, ...setUp.server?.auth },
  })
  onTestFinished(async () => {
    for (const { answer } of hold.calls) answer({})
    await server[Symbol.asyncDispose]()
  })
  const url = `${server.url}/mcp`

  /** A connected client of the SDK. Its token is in a header. */
  async function connect(era: 'legacy' | 'modern', more: { query?: string; name?: string; token?: string } = {}) {
    const { query = '', name = 'tester', token = agentToken.token } = more
    const client = new Client(
      { name, version: '1.0.0' },
      { capabilities: {}, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
    )
    const transport = new StreamableHTTPClientTransport(new URL(url + query), {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    })
    await client.connect(transport)
    onTestFinished(() => client.close())
    return { client, transport }
  }

  /** One HTTP request, without a client's help. */
  const post = (body: unknown, headers: Record<string, string> = {}, more: RequestInit = {}) =>
    fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${agentToken.token}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...more,
    })

  /** The id of a new legacy session. */
  async function begin(token = agentToken.token): Promise<string> {
    const answer = await post(initialize, { Authorization: `Bearer ${token}` })
    await answer.text()
    return answer.headers.get('mcp-session-id') ?? ''
  }

  return { url, server, door, clients, clock, hold, lines, ended, connect, post, begin }
}

export const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

/** The messages in a text of server-sent events, with their ids. */
export function messagesIn(text: string): { id: string; message: Record<string, unknown> }[] {
  return text
    .split('\n\n')
    .map((block) => ({ id: /^id: (.*)$/m.exec(block)?.[1] ?? '', data: /^data: (.+)$/m.exec(block)?.[1] }))
    .flatMap(({ id, data }) => (data === undefined ? [] : [{ id, message: JSON.parse(data) }]))
}
