// What was sent on the streams of a legacy MCP session, so that a client whose connection broke can resume with `Last-Event-ID`.
//
// The id of an event says which requests of its stream were not answered when it was sent. So a stream can be resumed although nothing
// else is known about it: after a restart the answers come from the log, and a request without one gets an error that says to ask again.

import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { jsonIn } from '../../domain/json-in.ts'
import type { KeptMessage } from '../../supervision/sessions/mcp-connections.ts'

type RequestId = string | number

/** One session's events. */
export type McpEventStore = ReturnType<typeof createEventStore>

/** A POST that brought requests. */
export interface Post {
  requestIds: readonly RequestId[]
  /** The stream of the answers, known from its first event on. */
  streamId: string | null
}

export interface EventLimits {
  events: number
  bytes: number
}

interface EventStoreParts {
  /** The POST that the caller of `append` works for. */
  currentPost: () => Post | null
  /** Writes down what goes to the client's own stream, before it is sent. */
  keep: (n: number, message: object) => Promise<void>
  /** The least number of the next event, where several processes number the events of one client. It grows with time. */
  least: () => number
  limits: EventLimits
}

/** The SDK's name for the stream of messages that answer no request. */
export const OWN_STREAM = '_GET_stream'
export const usualEventLimits: EventLimits = { events: 1_000, bytes: 4 * 1024 * 1024 }
/** Between the numbers of two processes. Some numbers of the earlier one were never written down, and none may be used twice. */
const GAP = 1_000_000

interface StoredEvent {
  n: number
  streamId: string
  message: JSONRPCMessage
  bytes: number
  /** Null: loaded from the log. */
  id: string | null
}

/** Forgets the oldest events when there are too many. The newest is always kept. */
export function createEventStore({ currentPost, keep, least, limits }: EventStoreParts) {
  let kept: StoredEvent[] = []
  let keptBytes = 0
  let count = 0
  /** The last event of the client's own stream that was forgotten. */
  let forgotten = 0
  /** The requests of each stream that are not answered. Null: they are not known. */
  const open = new Map<string, Set<RequestId> | null>()

  function add(event: Omit<StoredEvent, 'bytes'>): void {
    const bytes = JSON.stringify(event.message).length
    kept.push({ ...event, bytes })
    keptBytes += bytes
    let dropped = 0
    while (kept.length - dropped > 1 && (kept.length - dropped > limits.events || keptBytes > limits.bytes)) {
      const oldest = kept[dropped]
      keptBytes -= oldest?.bytes ?? 0
      if (oldest?.streamId === OWN_STREAM) forgotten = Math.max(forgotten, oldest.n)
      dropped += 1
    }
    if (dropped > 0) kept = kept.slice(dropped)
  }

  /** What is not answered on this stream after this message. */
  function openAfter(streamId: string, message: JSONRPCMessage): Set<RequestId> | null {
    const post = currentPost()
    if (!open.has(streamId)) {
      const isItsOwn = post !== null && (post.streamId ?? streamId) === streamId
      if (isItsOwn) post.streamId = streamId
      open.set(streamId, isItsOwn ? new Set(post.requestIds) : null)
      const [oldest] = open.keys()
      // A request that was cancelled is never answered.
      if (open.size > limits.events && oldest !== undefined) open.delete(oldest)
    }
    const left = open.get(streamId) ?? null
    const answered = answeredId(message)
    if (answered !== undefined) left?.delete(answered)
    if (left === null ? answered !== undefined : left.size === 0) open.delete(streamId)
    return left
  }

  const isKnown = (fact: KeptMessage): boolean =>
    kept.some(({ n, streamId, message }) =>
      fact.fact === 'mcp_told'
        ? streamId === OWN_STREAM && n === fact.n
        : streamId === fact.stream &&
          answeredId(message) !== undefined &&
          answeredId(message) === answeredId(fact.message),
    )

  async function take(messages: AsyncIterable<KeptMessage>): Promise<void> {
    for await (const fact of messages) {
      if (isKnown(fact)) continue
      const isTold = fact.fact === 'mcp_told'
      count = isTold ? Math.max(count, fact.n) : count + 1
      const streamId = isTold ? OWN_STREAM : fact.stream
      add({ n: isTold ? fact.n : count, streamId, message: fact.message as JSONRPCMessage, id: null })
    }
    kept.sort((a, b) => a.n - b.n)
  }

  return {
    /** Resolves with the id of the event when it may be sent. */
    async append(streamId: string, message: JSONRPCMessage): Promise<string> {
      count = Math.max(count + 1, least())
      const n = count
      const id = streamId === OWN_STREAM ? `${n}.${OWN_STREAM}` : eventId(n, streamId, openAfter(streamId, message))
      // A ping says nothing that a client could miss.
      if (streamId === OWN_STREAM && !isPing(message)) await keep(n, message)
      // The first event of a stream has only an id.
      if ('jsonrpc' in message) add({ n, streamId, message, id })
      return id
    },

    /** The stream that an event belongs to. Null if that cannot be told, or if later events were forgotten. */
    async streamOf(eventId: string): Promise<string | null> {
      const event = parseEventId(eventId)
      if (event === null) return null
      const { n, streamId } = event
      if (streamId === OWN_STREAM) return n < forgotten || n > count ? null : streamId
      const isKnown = event.open !== null || open.has(streamId) || kept.some((one) => one.streamId === streamId)
      return isKnown ? streamId : null
    },

    /** What the client of this event has not seen of the same stream, in order. */
    async readAfter(lastId: string): Promise<{ id: string; message: JSONRPCMessage }[]> {
      const last = parseEventId(lastId)
      if (last === null) return []
      const { streamId } = last
      const later = kept.filter((one) => one.streamId === streamId && isUnseen(one, last))
      if (streamId === OWN_STREAM) return later.map(({ n, message }) => ({ id: `${n}.${OWN_STREAM}`, message }))
      const left = new Set(last.open)
      const found = later.map(({ n, message, id }) => {
        const answered = answeredId(message)
        if (answered !== undefined) left.delete(answered)
        return { id: id ?? eventId(n, streamId, left), message }
      })
      if (open.has(streamId)) return found
      const lost = [...left].map((requestId) => {
        left.delete(requestId)
        count += 1
        return { id: eventId(count, streamId, left), message: askAgain(requestId) }
      })
      return [...found, ...lost]
    },

    /** Takes over what an earlier process wrote down. */
    async load(messages: AsyncIterable<KeptMessage>): Promise<void> {
      await take(messages)
      count += GAP
    },
    /** Adds what other processes have written down since. */
    catchUp: take,
  }
}

/** The id of the request that this message answers. */
function answeredId(message: object): RequestId | undefined {
  if ('method' in message || !('id' in message)) return undefined
  const { id } = message
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

/** An answer is unseen if it was open. Numbers of another process say nothing about it. */
function isUnseen({ n, message }: StoredEvent, last: EventId): boolean {
  const answered = answeredId(message)
  return answered === undefined || last.open === null ? n > last.n : last.open.includes(answered)
}

const askAgain = (id: RequestId): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: -32000,
    message:
      'The server has no answer to this request: it was restarted meanwhile, or the answer was too long to keep. Nothing is lost: send the ' +
      'same request again. What you asked is found by its content, or by the id that you were given.',
    data: { code: 'interrupted' },
  },
})

interface EventId {
  n: number
  streamId: string
  /** Null: there were too many to name them, or it is not known. */
  open: readonly RequestId[] | null
}

const EVENT_ID = /^(\d{1,15})\.(_GET_stream|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\.([\w-]{1,1000}))?$/
const UNKNOWN = '-'
const MOST_ID_CHARS = 1_000
const OpenSchema = z.array(z.union([z.string(), z.number()])).max(100)

function eventId(n: number, streamId: string, open: ReadonlySet<RequestId> | null): string {
  const text = open === null ? UNKNOWN : Buffer.from(JSON.stringify([...open])).toString('base64url')
  return `${n}.${streamId}.${text.length > MOST_ID_CHARS ? UNKNOWN : text}`
}

/** Clients send it back, so it can be anything. */
function parseEventId(text: string): EventId | null {
  const [, n, streamId, named] = EVENT_ID.exec(text) ?? []
  if (n === undefined || streamId === undefined || (streamId === OWN_STREAM) !== (named === undefined)) return null
  if (named === undefined || named === UNKNOWN) return { n: Number(n), streamId, open: null }
  const parsed = OpenSchema.safeParse(jsonIn(Buffer.from(named, 'base64url').toString()))
  return parsed.success ? { n: Number(n), streamId, open: parsed.data } : null
}

const isPing = (message: JSONRPCMessage): boolean => 'method' in message && message.method === 'ping'
