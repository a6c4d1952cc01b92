// The sessions of legacy clients. Each holds a server, a transport and what was sent lately. A client whose session is gone gets 404 and
// begins anew, as the protocol says; what its calls asked is in the store and waits there.

import { type EventStore, type McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import type { Clock } from '../../domain/clock.ts'
import type { McpEventStore } from './event-store.ts'

export interface LegacySession {
  readonly id: string
  readonly tokenId: string
  readonly connectionId: string
  readonly server: McpServer
  readonly events: McpEventStore
  handle(request: Request, parsedBody: unknown): Promise<Response>
  /** Streams that are open for what the server says by itself. */
  openStreams: number
  usedAt: number
}

export interface LegacySessions {
  /** Null if there is no such session, or it belongs to another token. */
  find(id: string, tokenId: string): LegacySession | null
  /** The session counts from the moment that its client is initialized. */
  begin(of: { id: string; tokenId: string; connectionId: string }): Promise<LegacySession>
  withConnection(connectionId: string): LegacySession[]
  readonly size: number
  closeAll(): Promise<void>
}

interface LegacySessionsOptions {
  clock: Clock
  createServer: () => McpServer
  createEvents: () => McpEventStore
  /** The client said that it is done. */
  onEnd: (session: LegacySession) => void
  onError: (error: Error) => void
  limits?: Partial<SessionLimits>
}

export interface SessionLimits {
  perToken: number
  all: number
  idleMs: number
}

const DEFAULT_LIMITS: SessionLimits = { perToken: 16, all: 500, idleMs: 24 * 60 * 60 * 1000 }
/** The SDK's name for the stream of messages that answer no request. */
export const OWN_STREAM = '_GET_stream'

export function createLegacySessions(options: LegacySessionsOptions): LegacySessions {
  const { clock, createServer, createEvents, onEnd, onError } = options
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const sessions = new Map<string, LegacySession>()

  function end(session: LegacySession): void {
    sessions.delete(session.id)
    void session.server.close().catch(onError)
  }

  /** Makes room for one more. Who has been silent for longest goes first, and before them nobody who listens. */
  function makeRoom(tokenId: string): void {
    for (const one of sessions.values()) {
      if (one.openStreams === 0 && clock.mono() - one.usedAt > limits.idleMs) end(one)
    }
    const byUse = [...sessions.values()].sort(
      (a, b) => Math.sign(a.openStreams) - Math.sign(b.openStreams) || a.usedAt - b.usedAt,
    )
    const own = byUse.filter((one) => one.tokenId === tokenId)
    const [victim] = own.length >= limits.perToken ? own : byUse.length >= limits.all ? byUse : []
    if (victim !== undefined) end(victim)
  }

  return {
    find(id, tokenId) {
      const session = sessions.get(id)
      if (session === undefined || session.tokenId !== tokenId) return null
      session.usedAt = clock.mono()
      return session
    },
    async begin({ id, tokenId, connectionId }) {
      const server = createServer()
      const events = createEvents()
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => id,
        // Our own layer keeps streams alive.
        keepAliveMs: 0,
        eventStore: sdkEventStore(events),
        onsessioninitialized() {
          makeRoom(tokenId)
          sessions.set(id, session)
        },
        onsessionclosed: () => onEnd(session),
      })
      const session: LegacySession = {
        id,
        tokenId,
        connectionId,
        server,
        events,
        handle: (request, parsedBody) => transport.handleRequest(request, { parsedBody }),
        openStreams: 0,
        usedAt: clock.mono(),
      }
      server.server.onclose = () => sessions.delete(id)
      server.server.onerror = onError
      await server.connect(transport)
      return session
    },
    withConnection: (connectionId) => [...sessions.values()].filter((one) => one.connectionId === connectionId),
    get size() {
      return sessions.size
    },
    async closeAll() {
      await Promise.all([...sessions.values()].map((one) => one.server.close()))
      sessions.clear()
    },
  }
}

function sdkEventStore(events: McpEventStore): EventStore {
  return {
    storeEvent: (streamId, message) => events.append(streamId, message),
    getStreamIdForEventId: async (eventId) => (await events.streamOf(eventId)) ?? undefined,
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = await events.streamOf(lastEventId)
      if (streamId === null) throw new Error('an event was forgotten while its stream was resumed')
      for (const { id, message } of await events.readAfter(lastEventId)) {
        // The first event of a stream has only an id.
        if ('jsonrpc' in message) await send(id, message)
      }
      return streamId
    },
  }
}
