// What happens on the server, told to every tab of this browser over one connection. A browser opens at most six connections to a
// server: a stream for each tab would soon leave none for anything else. So one tab leads, and tells the others.

import { createClient } from 'quarterdeck/client'
import { serverUrl } from '../base.ts'
import { credentialOf } from '../sign-in/device-token.ts'
import { openTabs } from '../tabs.ts'
import {
  type FeedItem,
  type LiveMessage,
  type LiveState,
  type LogEvent,
  type Taken,
  toLogEvent,
  type Watched,
} from './live-types.ts'
import { newId } from './new-id.ts'
import { serverFetch } from './requests.ts'
import { type StreamLoop, startStreamLoop } from './stream-loop.ts'
import { createWatchedFetch } from './watched-fetch.ts'

export interface Live {
  state(): LiveState
  onState(listener: () => void): () => void
  onFeed(listener: (item: FeedItem) => void): () => void
  /** What other operators look at. */
  taken(): readonly Taken[]
  onTaken(listener: () => void): () => void
  /** Something was missed for good: load again what is shown. */
  onGone(listener: () => void): () => void
  /** Brings the events of a session after `after`, in order and each once, until the returned function is called. */
  watch(sessionId: string, after: number, listener: (entries: LogEvent[]) => void): () => void
  retryNow(): void
  close(): void
}

type TabMessage =
  | { from: string; kind: 'tell'; message: LiveMessage; cursor: string | null }
  | { from: string; kind: 'want'; sessions: Watched[] }
  | { from: string; kind: 'leave' }
  | { from: string; kind: 'who' }
  | { from: string; kind: 'retry' }

interface Watcher extends Watched {
  listener: (entries: LogEvent[]) => void
}

/** The server carries the events of at most this many sessions on one stream. */
const MAX_SESSIONS = 8
/** How often the leader looks whether its connection still says something. It looks at once when a computer wakes up. */
const LISTEN_EVERY_MS = 5_000
/** How often a tab asks for the events of a session that the stream does not carry. */
const ASK_EVERY_MS = 3_000
const ASK_AT_MOST = 500

export function createLive(token: string): Live {
  const me = newId()
  // Tabs of somebody else have a stream of their own.
  const name = `quarterdeck-live-${token.slice(-8)}`
  const tabs = openTabs<TabMessage>(name)
  const ended = new AbortController()
  const states = new Set<() => void>()
  const feeds = new Set<(item: FeedItem) => void>()
  const lookers = new Set<() => void>()
  let taken: readonly Taken[] = []
  const gone = new Set<() => void>()
  const watchers = new Set<Watcher>()
  /** What other tabs want, by tab. The newest is last. */
  const wants = new Map<string, readonly Watched[]>()
  let state: LiveState = { status: 'connecting' }
  let cursor: string | null = null
  let loop: StreamLoop | null = null
  /** Null: nobody has said it yet. */
  let carried: ReadonlySet<string> | null = null

  const { post } = tabs

  function take(message: LiveMessage): void {
    if (message.kind === 'state') {
      state = message.state
      // A stream that begins says who looks, if anybody does.
      if (state.status !== 'live') setTaken([])
      for (const listener of states) listener()
    } else if (message.kind === 'feed') {
      cursor = message.item.id
      for (const listener of feeds) listener(message.item)
    } else if (message.kind === 'taken') {
      setTaken(message.items)
    } else if (message.kind === 'gone') {
      for (const listener of gone) listener()
    } else if (message.kind === 'carried') {
      carried = new Set(message.sessions)
    } else {
      for (const watcher of watchers) {
        if (watcher.sessionId !== message.sessionId) continue
        const fresh = message.entries.filter(({ seq }) => seq > watcher.after)
        watcher.after = fresh.at(-1)?.seq ?? watcher.after
        if (fresh.length > 0) watcher.listener(fresh)
      }
    }
  }

  function setTaken(items: readonly Taken[]): void {
    taken = items
    for (const listener of lookers) listener()
  }

  /** The lowest place of each session over all tabs. The sessions that were asked for last win if there are too many. */
  function wanted(): Watched[] {
    const lowest = new Map<string, number>()
    for (const one of [...wants.values()].flat().concat(mine())) {
      const after = Math.min(one.after, lowest.get(one.sessionId) ?? Number.POSITIVE_INFINITY)
      lowest.delete(one.sessionId)
      lowest.set(one.sessionId, after)
    }
    return [...lowest].slice(-MAX_SESSIONS).map(([sessionId, after]) => ({ sessionId, after }))
  }

  const mine = (): Watched[] => [...watchers].map(({ sessionId, after }) => ({ sessionId, after }))

  function want(): void {
    if (loop === null) post({ from: me, kind: 'want', sessions: mine() })
    else carry(loop)
  }

  /** Only the leader knows what all tabs want. */
  function carry(stream: StreamLoop): void {
    const sessions = wanted()
    stream.watch(sessions)
    tell({ kind: 'carried', sessions: sessions.map(({ sessionId }) => sessionId) })
  }

  function tell(message: LiveMessage): void {
    take(message)
    post({ from: me, kind: 'tell', message, cursor })
  }

  const asking = createClient({ url: serverUrl, ...credentialOf(token), retries: 0, fetch: serverFetch })
  async function askForTheRest(): Promise<void> {
    if (state.status !== 'live' || carried === null) return
    for (const { sessionId, after } of mine()) {
      if (carried.has(sessionId)) continue
      const { signal } = ended
      const { events } = await asking.sessions.log(sessionId, { after, limit: ASK_AT_MOST, signal })
      if (events.length > 0) take({ kind: 'entries', sessionId, entries: events.map(toLogEvent) })
    }
  }
  let isAsking = false
  const askTimer = setInterval(() => {
    if (isAsking) return
    isAsking = true
    // It asks again soon.
    void askForTheRest()
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }, ASK_EVERY_MS)

  function lead(): void {
    const watched = createWatchedFetch(serverFetch)
    const timer = setInterval(() => watched.cut(), LISTEN_EVERY_MS)
    ended.signal.addEventListener('abort', () => clearInterval(timer))
    window.addEventListener('offline', () => watched.cut(0), { signal: ended.signal })
    loop = startStreamLoop({
      client: createClient({ url: serverUrl, ...credentialOf(token), retries: 0, fetch: watched.fetch }),
      cursor,
      emit: tell,
    })
    post({ from: me, kind: 'who' })
    carry(loop)
  }

  tabs.listen((data) => {
    // Without locks other tabs lead too, each for itself.
    if (data.kind === 'tell') return loop === null ? take(data.message) : undefined
    if (data.kind === 'who') return want()
    if (loop === null) return
    if (data.kind === 'retry') return loop.retryNow()
    wants.delete(data.from)
    if (data.kind === 'want') {
      wants.set(data.from, data.sessions)
      for (const message of [
        { kind: 'state', state },
        { kind: 'taken', items: taken },
      ] as const) {
        post({ from: me, kind: 'tell', message, cursor })
      }
    }
    carry(loop)
  })

  // Locks exist only where pages are safe from others on the network. Elsewhere each tab has a stream of its own.
  if (navigator.locks === undefined || !tabs.isOpen) lead()
  else {
    const untilEnded = () =>
      new Promise<void>((resolve) => ended.signal.addEventListener('abort', () => resolve(), { once: true }))
    navigator.locks
      .request(name, { signal: ended.signal }, async () => {
        lead()
        await untilEnded()
      })
      .catch(() => {})
    want()
  }

  function retryNow(): void {
    if (loop === null) post({ from: me, kind: 'retry' })
    else loop.retryNow()
  }
  const leave = () => post({ from: me, kind: 'leave' })
  const onAwake = () => document.visibilityState === 'visible' && retryNow()
  window.addEventListener('online', retryNow, { signal: ended.signal })
  document.addEventListener('visibilitychange', onAwake, { signal: ended.signal })
  window.addEventListener('pagehide', leave, { signal: ended.signal })
  // A page that comes back from the browser's cache was left before.
  window.addEventListener('pageshow', (event) => event.persisted && want(), { signal: ended.signal })

  const listen = <T>(listeners: Set<T>, listener: T) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    state: () => state,
    onState: (listener) => listen(states, listener),
    onFeed: (listener) => listen(feeds, listener),
    taken: () => taken,
    onTaken: (listener) => listen(lookers, listener),
    onGone: (listener) => listen(gone, listener),
    watch(sessionId, after, listener) {
      const watcher = { sessionId, after, listener }
      watchers.add(watcher)
      want()
      return () => {
        watchers.delete(watcher)
        want()
      }
    },
    retryNow,
    close() {
      clearInterval(askTimer)
      leave()
      ended.abort()
      loop?.stop()
      tabs.close()
    },
  }
}
