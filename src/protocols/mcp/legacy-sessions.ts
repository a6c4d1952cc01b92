// The sessions of legacy clients. Each holds a server, a transport and what was sent lately. What must last is kept elsewhere, so a session
// that is gone from memory comes back when its client does. A client whose session is not known gets 404 and begins anew, as the protocol
// says; what its calls asked is in the store and waits there.

import { AsyncLocalStorage } from 'node:async_hooks'
import { type EventStore, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { present } from '../../domain/present.ts'
import type { McpConnection } from '../../domain/supervision/supervision.ts'
import type { McpConnections } from '../../supervision/sessions/mcp-connections.ts'
import { createEventStore, type McpEventStore, type Post, usualEventLimits } from './event-store.ts'

export interface LegacySession {
  readonly id: string
  readonly tokenId: string
  readonly connectionId: string
  readonly server: McpServer
  readonly events: McpEventStore
  /** How it was opened, to keep it. Null: the handshake is too long to be kept. */
  opening: McpConnection | null
  /** `post`: null for other methods. */
  handle(request: Request, parsedBody: unknown, post: Post | null): Promise<Response>
  /** Streams that are open for what the server says by itself. */
  openStreams: number
  /** Calls in work, whether their client is still connected or comes back for the answer. */
  openCalls: number
  usedAt: number
  /** When its client was last asked for a sign of life. */
  pingedAt: number
}

type NewSession = Pick<LegacySession, 'id' | 'tokenId' | 'connectionId'> & Pick<McpConnection, 'initialize' | 'listens'>

interface LegacySessionsOptions {
  clock: Clock
  createServer: () => McpServer
  /** What outlives this process. */
  connections: McpConnections
  /** The client said that it is done. */
  onEnd: (session: LegacySession) => Promise<void>
  onError: (error: Error) => void
  limits: SessionLimits
}

export interface SessionLimits {
  perToken: number
  all: number
  idleMs: number
}

/** A handshake is a few hundred characters. It is written again with every step of the supervised session. */
const MOST_HANDSHAKE_CHARS = 2_000

/** What is kept of a handshake. Null: it is too long, even without pictures and what else nobody needs to know of a client. */
function openingOf({ id, tokenId, initialize, listens }: NewSession): McpConnection | null {
  const { protocolVersion, capabilities, clientInfo } = initialize
  const { name, version } = isRecord(clientInfo) ? clientInfo : {}
  const short = { protocolVersion, capabilities, clientInfo: { name, version } }
  const fitting = [initialize, short].find((one) => JSON.stringify(one).length <= MOST_HANDSHAKE_CHARS)
  return fitting === undefined ? null : present({ id, tokenId, initialize: fitting, listens })
}

export function createLegacySessions(options: LegacySessionsOptions) {
  const { clock, createServer, connections, onEnd, onError, limits } = options
  const { others } = connections
  const sessions = new Map<string, LegacySession>()
  const returning = new Map<string, Promise<LegacySession | null>>()
  const posts = new AsyncLocalStorage<Post | null>()
  let isClosed = false

  function end(session: LegacySession): void {
    sessions.delete(session.id)
    void session.server.close().catch(onError)
  }

  /** Makes space for one more. Who has been silent for longest goes first, and before them nobody who listens or waits for an answer. */
  function makeSpace(tokenId: string): void {
    for (const one of sessions.values()) {
      if (!isInUse(one) && clock.mono() - one.usedAt > limits.idleMs) end(one)
    }
    const byUse = [...sessions.values()].sort((a, b) => Number(isInUse(a)) - Number(isInUse(b)) || a.usedAt - b.usedAt)
    const own = byUse.filter((one) => one.tokenId === tokenId)
    const [victim] = own.length >= limits.perToken ? own : byUse.length >= limits.all ? byUse : []
    if (victim !== undefined) end(victim)
  }

  function enter(session: LegacySession): void {
    makeSpace(session.tokenId)
    sessions.set(session.id, session)
  }

  /** `onReady` is called when the client is initialized. */
  async function open(of: NewSession, onReady: (session: LegacySession) => void | Promise<void>) {
    const { id, tokenId, connectionId } = of
    const server = createServer()
    const events = createEventStore({
      currentPost: () => posts.getStore() ?? null,
      keep: (n, message) => connections.keep(id, n, message),
      least: others === null ? () => 0 : clock.now,
      limits: usualEventLimits,
    })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      // Our own layer keeps streams alive.
      keepAliveMs: 0,
      eventStore: sdkEventStore(events),
      onsessioninitialized: () => onReady(session),
      async onsessionclosed() {
        await connections.forget(id)
        await onEnd(session)
      },
    })
    const session: LegacySession = {
      id,
      tokenId,
      connectionId,
      server,
      events,
      opening: openingOf(of),
      handle: (request, parsedBody, post) => posts.run(post, () => transport.handleRequest(request, { parsedBody })),
      openStreams: 0,
      openCalls: 0,
      usedAt: clock.mono(),
      pingedAt: Number.NEGATIVE_INFINITY,
    }
    server.server.onclose = () => {
      if (sessions.get(id) === session) sessions.delete(id)
    }
    server.server.onerror = onError
    await server.connect(transport)
    return session
  }

  /** A session of an earlier process, or one that had to make space. The server hears the client's handshake again. */
  async function bringBack(of: Omit<NewSession, 'initialize'>): Promise<LegacySession | null> {
    const known = await connections.find(of.id, of.tokenId)
    if (known === null || isClosed) return null
    const { initialize, listens } = known
    const session = await open(present({ ...of, initialize, listens }), () => {})
    const headers = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }
    const handshake = { jsonrpc: '2.0', id: 'again', method: 'initialize', params: initialize }
    const request = new Request('http://localhost/mcp', { method: 'POST', headers })
    const answer = await session.handle(request, handshake, null)
    // The answer is complete when the server knows its client.
    await answer.text()
    await session.events.load(known.messages)
    if (!answer.ok || isClosed) {
      await session.server.close()
      return null
    }
    enter(session)
    return session
  }

  function returned(of: Omit<NewSession, 'initialize'>): Promise<LegacySession | null> {
    const key = JSON.stringify([of.tokenId, of.id])
    const known = returning.get(key)
    if (known !== undefined) return known
    const coming = bringBack(of).finally(() => returning.delete(key))
    returning.set(key, coming)
    return coming
  }

  others?.onForgotten((id) => {
    const session = sessions.get(id)
    if (session !== undefined) end(session)
  })

  /** Its client may have been told more at another process. What it is told from now on must have higher numbers than that. */
  async function catchUp(session: LegacySession): Promise<void> {
    const known = await connections.find(session.id, session.tokenId)
    if (known !== null) await session.events.catchUp(known.messages)
  }

  return {
    /** Brings it back if only the memory of it is gone. Null if there is no such session, or it belongs to another token. */
    async find(of: Omit<NewSession, 'initialize' | 'listens'>, opensStream: boolean): Promise<LegacySession | null> {
      const known = sessions.get(of.id)
      if (known !== undefined && known.tokenId !== of.tokenId) return null
      const session = known ?? (await returned(of))
      if (known !== undefined && opensStream && others !== null) await catchUp(known)
      if (session !== null) session.usedAt = clock.mono()
      return session
    },
    /** The session counts from the moment that its client is initialized. */
    begin(of: NewSession): Promise<LegacySession> {
      if (others !== null && openingOf(of) === null) {
        // Its next request may reach another server, which would not know it.
        throw new ServerError(
          'invalid_request',
          `The parameters of "initialize" are too long. Send at most ${MOST_HANDSHAKE_CHARS} characters, with fewer capabilities.`,
        )
      }
      return open(of, async (session) => {
        if (session.opening !== null) await others?.opened(session.opening)
        enter(session)
      })
    },
    /** Those with an open stream for what the server says by itself. */
    listening: () => [...sessions.values()].filter(({ openStreams }) => openStreams > 0),
    async closeAll(): Promise<void> {
      isClosed = true
      await Promise.all([...sessions.values()].map((one) => one.server.close()))
      sessions.clear()
    },
  }
}

const isInUse = ({ openStreams, openCalls }: LegacySession): boolean => openStreams > 0 || openCalls > 0

function sdkEventStore(events: McpEventStore): EventStore {
  return {
    storeEvent: (streamId, message) => events.append(streamId, message),
    getStreamIdForEventId: async (eventId) => (await events.streamOf(eventId)) ?? undefined,
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = await events.streamOf(lastEventId)
      if (streamId === null) throw new Error('an event was forgotten while its stream was resumed')
      for (const { id, message } of await events.readAfter(lastEventId)) await send(id, message)
      return streamId
    },
  }
}
