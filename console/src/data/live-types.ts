import type { FeedEvent, RunEvent } from 'quarterdeck/client'

/** How the stream of this browser is doing. `waiting`: the next try is at `retryAt`. `refused`: the token is no longer valid. */
export type LiveState =
  | { status: 'connecting' }
  | { status: 'live' }
  | { status: 'waiting'; retryAt: number; reason: string }
  | { status: 'refused' }

/** A change of a session, run or record somewhere on the server. It never holds text. */
export type FeedItem = Extract<FeedEvent, { type: 'feed' }>

export interface LogEvent {
  seq: number
  /** Milliseconds. Null: the event has no time. */
  at: number | null
  event: RunEvent
}

/** A session that a tab shows, and the last event of it that the tab has. */
export interface Watched {
  sessionId: string
  after: number
}

/** Something in the inbox that another operator looks at. */
export type Taken = Extract<FeedEvent, { type: 'taken' }>['items'][number]

export type LiveMessage =
  | { kind: 'feed'; item: FeedItem }
  | { kind: 'entries'; sessionId: string; entries: LogEvent[] }
  | { kind: 'state'; state: LiveState }
  | { kind: 'taken'; items: readonly Taken[] }
  /** The sessions whose events the stream brings. Others have to be asked for. */
  | { kind: 'carried'; sessions: readonly string[] }
  /** What happened meanwhile cannot be told any more: load everything again. */
  | { kind: 'gone'; sessionId: string | null }

/** An event of a page of the log, as the stream brings it too. */
export const toLogEvent = ({ seq, at, event }: { seq: number; at: string | null; event: RunEvent }): LogEvent => ({
  seq,
  at: at === null ? (event.timestamp ?? null) : Date.parse(at),
  event,
})
