// What was sent on the streams of a legacy MCP session, so that a client whose connection broke can resume with `Last-Event-ID`.

import type { JSONRPCMessage } from '@modelcontextprotocol/server'

/** One session's events. Event ids are unique within it. */
export interface McpEventStore {
  /** Resolves with the id of the event when it is stored. */
  append(streamId: string, message: JSONRPCMessage): Promise<string>
  /** The stream that an event belongs to. Null if the event is unknown, or too old to be kept. */
  streamOf(eventId: string): Promise<string | null>
  /** The later events of the same stream, in order. */
  readAfter(eventId: string): Promise<readonly { id: string; message: JSONRPCMessage }[]>
}

export interface EventLimits {
  events: number
  bytes: number
}

const DEFAULT_LIMITS: EventLimits = { events: 1_000, bytes: 4 * 1024 * 1024 }

interface StoredEvent {
  n: number
  streamId: string
  message: JSONRPCMessage
  bytes: number
}

/** Forgets the oldest events when there are too many. The newest is always kept. */
export function createMemoryEventStore({ events, bytes }: EventLimits = DEFAULT_LIMITS): McpEventStore {
  let kept: StoredEvent[] = []
  let keptBytes = 0
  let count = 0
  const find = (eventId: string) => kept.find(({ n }) => String(n) === eventId)

  return {
    async append(streamId, message) {
      count += 1
      const event = { n: count, streamId, message, bytes: JSON.stringify(message).length }
      kept.push(event)
      keptBytes += event.bytes
      let dropped = 0
      while (kept.length - dropped > 1 && (kept.length - dropped > events || keptBytes > bytes)) {
        keptBytes -= kept[dropped]?.bytes ?? 0
        dropped += 1
      }
      if (dropped > 0) kept = kept.slice(dropped)
      return String(count)
    },
    streamOf: async (eventId) => find(eventId)?.streamId ?? null,
    async readAfter(eventId) {
      const from = find(eventId)
      if (from === undefined) return []
      return kept
        .filter(({ n, streamId }) => n > from.n && streamId === from.streamId)
        .map(({ n, message }) => ({ id: String(n), message }))
    },
  }
}
