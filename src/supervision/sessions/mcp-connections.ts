// MCP connections with a handshake, as far as they outlive the process: their opening stands with the session, and what their clients
// were told stands in its log. A connection whose client has called no tool yet belongs to no session and is not kept. Its client has
// nothing to lose: it gets 404 and begins anew, as the protocol says.

import type { Clock } from '../../domain/clock.ts'
import { parseUuid } from '../../domain/ids.ts'
import { present } from '../../domain/present.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { McpConnection } from '../../domain/supervision/supervision.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Replica } from '../../replicas/replica.ts'
import type { Store } from '../../store/store.ts'
import type { SessionParts } from './take-step.ts'

export interface McpConnections {
  /** Null: it is not known, it has ended, or another token opened it. */
  find(id: string, tokenId: string): Promise<KnownConnection | null>
  /** Writes down what the client is told without a request. A connection without a session has nowhere to keep it. */
  keep(id: string, n: number, message: object): Promise<void>
  /** The client said that it is done. */
  forget(id: string): Promise<void>
  /** What other processes on the store have to know. Null: there are none. */
  others: {
    /** Says that a client has opened it, so that its next request may go to another process. Call it before the client is answered. */
    opened(connection: McpConnection): Promise<void>
    /** Calls `end` with the id of each connection that was forgotten at another process. */
    onForgotten(end: (id: string) => void): void
  } | null
}

export interface KnownConnection extends Pick<McpConnection, 'initialize' | 'listens'> {
  /** What the log has of it, oldest first. */
  messages: AsyncIterable<KeptMessage>
}

export type KeptMessage = Extract<Fact, { fact: 'mcp_answered' | 'mcp_told' }>

interface ConnectionsDeps extends Pick<SessionParts, 'takeStep' | 'logger'> {
  store: Pick<Store, 'supervised' | 'entries' | 'head'>
  log: Pick<SessionLog, 'synced'>
  clock: Pick<Clock, 'now'>
  replica: Pick<Replica, 'isShared' | 'shared' | 'changes'>
}

const OPENED = 'mcp opened'
const FORGOTTEN = 'mcp forgotten'
/** As long as a process keeps a connection that nobody uses. */
const KEPT_MS = 24 * 60 * 60 * 1_000
/** Every process has looked long before. */
const FORGOTTEN_MS = 10 * 60_000

/** An agent that takes up an earlier session uses the same connection for both. */
const MOST_SESSIONS = 16
/** How far back the log is read. What a client still waits for is near its end. */
const MOST_ENTRIES = 10_000
const PAGE = 1_000
const PAGE_CHARS = 1_000_000

export function createMcpConnections(deps: ConnectionsDeps): McpConnections {
  const { store, log, takeStep, clock, logger } = deps
  const { isShared, shared, changes } = deps.replica

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

  /** A connection without a session yet. */
  async function openedElsewhere(id: string): Promise<McpConnection[]> {
    if (!isShared || parseUuid(id) === null) return []
    const record = await shared.get(OPENED, id)
    return record === null ? [] : [JSON.parse(record.value)]
  }

  async function tellForgotten(id: string): Promise<void> {
    await shared.take(OPENED, id)
    await shared.put({ kind: FORGOTTEN, key: id, value: '', version: null, expiresAt: clock.now() + FORGOTTEN_MS })
    await changes.tell(FORGOTTEN)
  }

  const others: McpConnections['others'] = {
    async opened(connection) {
      const record = { kind: OPENED, key: connection.id, value: JSON.stringify(connection), version: null }
      await shared.put({ ...record, expiresAt: clock.now() + KEPT_MS })
    },
    onForgotten(end) {
      changes.watch(FORGOTTEN, () => {
        shared.list(FORGOTTEN).then(
          (records) => {
            for (const { key } of records) end(key)
          },
          (error: unknown) => logger.warn('ended MCP connections cannot be read just now', { error }),
        )
      })
    },
  }

  return {
    others: isShared ? others : null,
    async find(id, tokenId) {
      const sessions = await sessionsOf(id)
      const kept = sessions.flatMap(({ supervision }) => supervision?.mcp ?? [])
      const isNamed = (one: McpConnection) => one.id === id && one.tokenId === tokenId
      const opened = kept.find(isNamed) ?? (await openedElsewhere(id)).find(isNamed)
      if (opened === undefined) return null
      // The latest session last: what is too much is forgotten from the beginning.
      const sessionIds = sessions.map((session) => session.id).toReversed()
      const { initialize, listens } = opened
      return present({ initialize, listens, messages: messagesOf(id, sessionIds) })
    },

    async keep(id, n, message) {
      const [session] = await sessionsOf(id, 1)
      if (session === undefined) return
      await takeStep(session.id, ({ at }) => ({
        facts: [{ fact: 'mcp_told', connection: id, n, message, at }],
      }))
    },

    async forget(id) {
      for (const session of await sessionsOf(id)) {
        await takeStep(session.id, ({ session: { supervision } }) => ({
          supervision: { mcp: (supervision.mcp ?? []).filter((one) => one.id !== id) },
        }))
      }
      if (isShared) await tellForgotten(id)
    },
  }
}
