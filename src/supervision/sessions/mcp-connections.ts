// MCP connections with a handshake, as far as they outlive the process: their opening stands with the session, and what their clients
// were told stands in its log. A connection whose client has called no tool yet belongs to no session and is not kept. Its client has
// nothing to lose: it gets 404 and begins anew, as the protocol says.

import type { Fact } from '../../domain/entry.ts'
import { parseUuid } from '../../domain/ids.ts'
import type { McpConnection } from '../../domain/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { TakeStep } from './take-step.ts'

export interface McpConnections {
  /** Null: it is not known, it has ended, or another token opened it. */
  find(id: string, tokenId: string): Promise<KnownConnection | null>
  /** Writes down what the client is told without a request. A connection without a session has nowhere to keep it. */
  keep(id: string, n: number, message: object): Promise<void>
  /** The client said that it is done. */
  forget(id: string): Promise<void>
}

export interface KnownConnection extends Pick<McpConnection, 'initialize'> {
  /** What the log has of it, oldest first. */
  messages: AsyncIterable<KeptMessage>
}

export type KeptMessage = Extract<Fact, { fact: 'mcp_answered' | 'mcp_told' }>

interface ConnectionsDeps {
  store: Pick<Store, 'supervised' | 'entries' | 'head'>
  log: Pick<SessionLog, 'synced'>
  takeStep: TakeStep
}

/** An agent that takes up an earlier session uses the same connection for both. */
const MOST_SESSIONS = 16
/** How far back the log is read. What a client still waits for is near its end. */
const MOST_ENTRIES = 10_000
const PAGE = 1_000
const PAGE_CHARS = 1_000_000

export function createMcpConnections({ store, log, takeStep }: ConnectionsDeps): McpConnections {
  const sessionsOf = async (id: string, limit = MOST_SESSIONS) =>
    parseUuid(id) === null ? [] : await store.supervised.sessions({ mcpConnection: id, limit })

  async function* messagesOf(id: string, sessionIds: readonly string[]): AsyncIterable<KeptMessage> {
    for (const sessionId of sessionIds) {
      await log.synced(sessionId)
      let after = Math.max((await store.head(sessionId)) - MOST_ENTRIES, 0)
      for (;;) {
        const entries = await store.entries(sessionId, after, PAGE, PAGE_CHARS)
        const last = entries.at(-1)
        if (last === undefined) break
        after = last.seq
        for (const { kind, data } of entries) {
          const fact: Fact | null = kind === 'fact' ? JSON.parse(data) : null
          if ((fact?.fact === 'mcp_answered' || fact?.fact === 'mcp_told') && fact.connection === id) yield fact
        }
      }
    }
  }

  return {
    async find(id, tokenId) {
      const sessions = await sessionsOf(id)
      const kept = sessions.flatMap(({ supervision }) => supervision?.mcp ?? [])
      const opened = kept.find((one) => one.id === id && one.tokenId === tokenId)
      if (opened === undefined) return null
      // The latest session last: what is too much is forgotten from the beginning.
      const sessionIds = sessions.map((session) => session.id).toReversed()
      return { initialize: opened.initialize, messages: messagesOf(id, sessionIds) }
    },

    async keep(id, n, message) {
      const [session] = await sessionsOf(id, 1)
      if (session === undefined) return
      await takeStep(session.id, ({ at }) => ({
        result: null,
        facts: [{ fact: 'mcp_told', connection: id, n, message, at }],
      }))
    },

    async forget(id) {
      for (const session of await sessionsOf(id)) {
        await takeStep(session.id, ({ session: { supervision } }) => ({
          result: null,
          supervision: { mcp: (supervision.mcp ?? []).filter((one) => one.id !== id) },
        }))
      }
    },
  }
}
