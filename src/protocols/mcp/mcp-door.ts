// Streamable HTTP in both eras, from one table of tools. A legacy client has a session here; a modern one has nothing, so every modern
// request gets a server of its own. Whatever must last is in the store behind the tools.

import {
  type CallToolResult,
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  type McpServer,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import { agentOf, type Reply, type Request } from '../../http/route.ts'
import { type ResumableCall, SERVER_STOPS } from '../../supervision/agent-service/agent-service.ts'
import { bridgeConnection } from '../../supervision/sessions/attach-agent.ts'
import type { McpConnections } from '../../supervision/sessions/mcp-connections.ts'
import { readAgentPlace } from './agent-query.ts'
import { OWN_STREAM, type Post } from './event-store.ts'
import { createLegacySessions, type LegacySession, type SessionLimits } from './legacy-sessions.ts'
import type { OpenClients } from './open-clients.ts'
import { serveTool } from './serve-tool.ts'
import { createServerFactory, type ServerParts } from './server-factory.ts'
import type { McpAgent } from './tool-table.ts'
import { sendWebResponse, webRequest } from './web-exchange.ts'

export interface McpDoor {
  handle(request: Request, reply: Reply): Promise<void>
  /** Lets calls in work answer within a second, then ends all streams. */
  close(): Promise<void>
}

export interface McpDoorOptions extends ServerParts {
  /** The door enters here who is connected. */
  clients: OpenClients
  clock: Clock
  ids: Ids
  telemetry: Telemetry
  /** Legacy connections that outlive this process. */
  connections: McpConnections
  limits: SessionLimits
  /** A client said that it is done. A client that only went away is not reported. */
  onEnd: (connectionId: string) => Promise<void>
}

/** What one HTTP request says about its caller. */
interface Caller extends Omit<McpAgent, 'client'> {
  /** Null in the modern era. */
  legacy: { session: LegacySession; post: Post | null } | null
}

interface OpenCall {
  caller: Caller
  context: ServerContext
}

const STOP_MS = 1_000
/** How long a client is silent before it is asked whether it is there. A bridge is asked as often. */
const PING_MS = 60_000

export function createMcpDoor(options: McpDoorOptions): McpDoor {
  const { clients, clock, ids, log, telemetry, connections, limits, onEnd, extension } = options
  const callers = new WeakMap<globalThis.Request, Caller>()
  const calls = new Set<OpenCall>()
  const stopping = new AbortController()
  let onIdle = () => {}
  const onError = (error: Error) => log.debug('an MCP request was refused', { error })

  function callerOf({ http }: ServerContext): Caller {
    const caller = http?.req === undefined ? undefined : callers.get(http.req)
    if (caller === undefined) throw new Error('an MCP message came without its HTTP request')
    return caller
  }

  const servers = createServerFactory(options, {
    agentOf(context, server) {
      const { legacy: _, ...agent } = callerOf(context)
      return { ...agent, client: clientOf(server) }
    },
    async call(tool, input, agent, context) {
      const caller = callerOf(context)
      const open = { caller, context }
      const session = caller.legacy?.session
      calls.add(open)
      const leave = clients.enter({
        by: 'call',
        connectionId: caller.connectionId,
        isThere: () => context.http?.req?.signal.aborted !== true,
        send({ method, params, message }) {
          context.mcpReq.notify({ method, params }).catch(onError)
          context.mcpReq.log('warning', message, 'quarterdeck').catch(onError)
        },
      })
      if (session !== undefined) session.openCalls += 1
      try {
        const { mcpReq } = context
        const called = { agent, mcpReq, isRead: () => isRead(open), resumable: resumableOf(caller, mcpReq) }
        return await serveTool(tool, input, called, { clock, log, telemetry, stopping: stopping.signal })
      } finally {
        calls.delete(open)
        leave()
        if (session !== undefined) session.openCalls -= 1
        if (calls.size === 0) onIdle()
      }
    },
  })
  /** Streams of calls that their clients came back for, each once for every open answer. */
  const resumed: string[] = []
  const isRead = ({ caller, context }: OpenCall): boolean =>
    context.http?.req?.signal.aborted !== true || resumed.includes(caller.legacy?.post?.streamId ?? '')

  const sessions = createLegacySessions({
    clock,
    createServer: servers.whole,
    onEnd: ({ connectionId }) => onEnd(connectionId),
    onError,
    connections,
    limits,
  })
  const modern = (responseMode: 'auto' | 'sse', createServer: () => McpServer | Server) =>
    createMcpHandler(createServer, {
      legacy: 'reject',
      responseMode,
      // Our own layer keeps streams alive.
      keepAliveMs: 0,
      onerror: onError,
      ...(extension === null ? {} : { bus: extension.bus }),
    })
  // The stream of a call is opened at once, because hosts give up on one whose first byte takes a minute. Everything else is answered
  // at once and needs no stream.
  const streaming = new Map(options.tools.map((tool) => [tool.name, modern('sse', () => servers.ofTool(tool))]))
  const plain = modern('auto', servers.whole)

  /** The bridge is there until the request ends. It comes again when the answer is over, so an end of it asks the bridge for a sign of life. */
  async function holdBridge(bridge: string, request: Request, reply: Reply): Promise<void> {
    const leave = clients.enter({ by: 'bridge', connectionId: bridge, isThere: () => true })
    try {
      reply.sse()
      await sleep(clock, PING_MS, AbortSignal.any([request.signal, stopping.signal]))
    } finally {
      leave()
    }
  }

  /** A host may be gone although its stream looks open: its machine sleeps, or has lost its network. */
  function pingSilent(): void {
    const now = clock.mono()
    for (const session of sessions.listening()) {
      if (clients.hasBridge(session.connectionId) || !isAnswering(session) || now - session.usedAt < PING_MS) continue
      session.pingedAt = now
      session.server.server.ping().catch(onError)
    }
    stopPinging = clock.after(PING_MS, pingSilent)
  }
  let stopPinging = clock.after(PING_MS, pingSilent)

  async function handle(request: Request, reply: Reply): Promise<void> {
    const principal = agentOf(request)
    const { bridgeId, ...place } = readAgentPlace(request.query, principal)
    const bridge = bridgeId === null ? null : bridgeConnection(principal.tokenId, bridgeId)
    if (request.method === 'HEAD') {
      const allow = ['GET', 'POST', 'DELETE', 'OPTIONS']
      throw new ServerError('method_not_allowed', '/mcp answers GET, POST and DELETE.', { details: { allow } })
    }
    // What a bridge says for itself, and not for its host.
    if (bridge !== null && request.header('mcp-session-id') === undefined) {
      if (request.method === 'GET') return await holdBridge(bridge, request, reply)
      if (request.method === 'DELETE') {
        await onEnd(bridge)
        return reply.empty(204)
      }
    }
    const body = request.method === 'POST' ? await request.json() : undefined
    const web = webRequest(request)
    if (!(await isLegacyRequest(web, body))) {
      const connectionId = bridge ?? ids.uuid()
      callers.set(web, { principal, ...place, era: 'modern', connectionId, isLasting: bridge !== null, legacy: null })
      const handler = streaming.get(calledTool(body) ?? '') ?? plain
      return await sendWebResponse(await handler.fetch(web, { parsedBody: body }), request, reply)
    }
    const session = await sessionOf(web, body, principal.tokenId, bridge)
    const { connectionId } = session
    const post = body === undefined ? null : { requestIds: requestIdsIn(body), streamId: null }
    callers.set(web, { principal, ...place, era: 'legacy', connectionId, isLasting: true, legacy: { session, post } })
    const response = await session.handle(web, body, post)
    const stream = response.ok ? await streamOf(web, session) : null
    const isOwn = stream === OWN_STREAM
    const leave = isOwn ? clients.enter(ownStream(session)) : () => {}
    if (isOwn) {
      session.openStreams += 1
      if (session.opening !== null) session.opening = { ...session.opening, listens: true }
    } else if (stream !== null) resumed.push(stream)
    try {
      await sendWebResponse(response, request, reply)
    } finally {
      leave()
      if (isOwn) session.openStreams -= 1
      else if (stream !== null) resumed.splice(resumed.indexOf(stream), 1)
    }
  }

  const ownStream = (session: LegacySession): Parameters<OpenClients['enter']>[0] => ({
    by: 'stream',
    connectionId: session.connectionId,
    isThere: () => isAnswering(session),
    send({ method, params, message }) {
      const line = { level: 'warning', logger: 'quarterdeck', data: message } as const
      session.server.server.notification({ method, params }).catch(onError)
      session.server.server.sendLoggingMessage(line, session.id).catch(onError)
    },
  })

  async function sessionOf(
    { method, headers }: globalThis.Request,
    body: unknown,
    tokenId: string,
    bridge: string | null,
  ): Promise<LegacySession> {
    const named = headers.get('mcp-session-id')
    const greeting = method === 'POST' ? [body].flat().find((message) => isInitializeRequest(message)) : undefined
    if (greeting !== undefined) {
      const id = ids.uuid()
      return await sessions.begin({ id, tokenId, connectionId: bridge ?? id, initialize: greeting.params })
    }
    const findNamed = (id: string) => sessions.find({ id, tokenId, connectionId: bridge ?? id }, method === 'GET')
    const known = named === null ? null : await findNamed(named)
    if (known !== null) return known
    if (named === null) {
      throw new ServerError('invalid_request', 'Send the header Mcp-Session-Id, or begin with "initialize".')
    }
    throw new ServerError('session_not_found', 'This MCP session has ended. Begin a new one with "initialize".')
  }

  return {
    handle,
    async close() {
      stopping.abort(SERVER_STOPS)
      stopPinging()
      if (calls.size > 0) {
        const idle = new Promise<void>((resolve) => {
          onIdle = resolve
        })
        await Promise.race([idle, sleep(clock, STOP_MS)])
        // The SDK sends an answer a few steps after the tool gave it.
        await new Promise<void>((resolve) => clock.soon(resolve))
      }
      await Promise.all([...[...streaming.values(), plain].map((handler) => handler.close()), sessions.closeAll()])
    },
  }
}

/** Its client has not been asked, or something has come from it since. */
const isAnswering = ({ usedAt, pingedAt }: LegacySession): boolean => usedAt >= pingedAt

/** The stream that a GET opens or resumes: that of what the server says by itself, or that of a call. Null: it is no GET. */
async function streamOf({ method, headers }: globalThis.Request, { events }: LegacySession): Promise<string | null> {
  if (method !== 'GET') return null
  const resumed = headers.get('last-event-id')
  return resumed === null ? OWN_STREAM : await events.streamOf(resumed)
}

/** What keeps the answer of a call for a client that comes back. Null: this client can not. */
function resumableOf(
  { legacy }: Caller,
  { id, signal }: ServerContext['mcpReq'],
): ResumableCall<CallToolResult> | null {
  const connection = legacy?.session.opening ?? null
  if (legacy === null || connection === null) return null
  const { post } = legacy
  return {
    connection,
    messageOf: (result) =>
      // Without an event of the stream nobody can ask for the rest of it, and nobody asks for what was cancelled.
      post?.streamId == null || signal.aborted
        ? null
        : { stream: post.streamId, message: { jsonrpc: '2.0', id, result } },
  }
}

const RequestSchema = z.object({ id: z.union([z.string(), z.number()]), method: z.string() })

const requestIdsIn = (body: unknown): (string | number)[] =>
  [body].flat().flatMap((message) => {
    const parsed = RequestSchema.safeParse(message)
    return parsed.success ? [parsed.data.id] : []
  })

const CallSchema = z.object({ method: z.literal('tools/call'), params: z.object({ name: z.string() }) })

function calledTool(body: unknown): string | null {
  const parsed = CallSchema.safeParse(body)
  return parsed.success ? parsed.data.params.name : null
}

const ClientSchema = z.object({ name: z.string(), version: z.string() })

/** The SDK fills it in from the handshake, or from the request itself. */
function clientOf(server: Server): McpAgent['client'] {
  const parsed = ClientSchema.safeParse(server.getClientVersion())
  return parsed.success ? parsed.data : null
}
