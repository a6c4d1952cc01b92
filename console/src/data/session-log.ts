// The events of one session as a page shows them: the newest page first, earlier ones on demand, new ones as they happen.

import type { Client } from 'quarterdeck/client'
import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { Live } from './live.ts'
import { type LogEvent, toLogEvent } from './live-types.ts'
import { useClient } from './server.tsx'
import { uuidOfUlid } from './session-id.ts'
import { createTranscriptFold, type Transcript } from './transcript.ts'
import { useLive } from './use-live.tsx'

export interface SessionLogView {
  status: 'loading' | 'ready' | 'failed'
  error: unknown
  events: readonly LogEvent[]
  transcript: Transcript
  /** True if there are events before the first one here. */
  hasEarlier: boolean
  isLoadingEarlier: boolean
}

export interface SessionLog {
  current(): SessionLogView
  subscribe(listener: () => void): () => void
  loadEarlier(): void
  /** Loads all that is left, for the timeline and the replay. */
  loadAll(): Promise<void>
  reload(): void
  /** Begins to load and to listen. The returned function ends it. */
  open(): () => void
}

const PAGE = 1_000
/** Behind the last event, whichever that is. */
const END = Number.MAX_SAFE_INTEGER

export function createSessionLog(sessionId: string, client: Client, live: Live): SessionLog {
  const listeners = new Set<() => void>()
  let fold = createTranscriptFold()
  let events: LogEvent[] = []
  let view: SessionLogView = emptyView(fold.current())
  let unwatch = () => {}
  let isClosed = true
  let frame: number | null = null

  function set(changes: Partial<SessionLogView>): void {
    view = { ...view, ...changes }
    for (const listener of listeners) listener()
  }

  /** At most once a frame: a fast model sends hundreds of events a second. A hidden tab has no frames. */
  function show(): void {
    if (frame !== null) return
    const draw = () => {
      frame = null
      set({ events, transcript: fold.current() })
    }
    frame = document.visibilityState === 'visible' ? requestAnimationFrame(draw) : window.setTimeout(draw, 100)
  }

  function addLive(entries: readonly LogEvent[]): void {
    events = events.concat(entries)
    fold.add(entries)
    show()
  }

  async function start(): Promise<void> {
    unwatch()
    unwatch = () => {}
    try {
      const { events: page, first_seq } = await client.sessions.log(sessionId, { before: END, limit: PAGE })
      if (isClosed) return
      events = page.map(toLogEvent)
      refold()
      const first = events[0]?.seq ?? first_seq
      set({ status: 'ready', error: null, events, transcript: fold.current(), hasEarlier: first > first_seq })
      // The page may know the session by a name or a ULID. The stream says the UUID, with which the ids of events begin.
      const watched = uuidOfUlid(page.at(-1)?.id.split('.')[0] ?? '') ?? sessionId
      unwatch = live.watch(watched, events.at(-1)?.seq ?? 0, addLive)
    } catch (error) {
      if (!isClosed) set({ status: 'failed', error })
    }
  }

  function refold(): void {
    fold = createTranscriptFold()
    fold.add(events)
  }

  let earlier: Promise<void> | null = null
  async function readEarlier(before: number): Promise<void> {
    set({ isLoadingEarlier: true })
    try {
      const { events: page, first_seq } = await client.sessions.log(sessionId, { before, limit: PAGE })
      // Whoever hears that it is done may ask for the next page at once.
      earlier = null
      if (isClosed) return
      events = page.map(toLogEvent).concat(events)
      refold()
      const hasEarlier = page.length > 0 && (events[0]?.seq ?? 0) > first_seq
      set({ events, transcript: fold.current(), hasEarlier, isLoadingEarlier: false })
    } catch (error) {
      earlier = null
      set({ isLoadingEarlier: false, error })
    }
  }
  function loadEarlier(): Promise<void> {
    const first = events[0]
    if (first === undefined || !view.hasEarlier) return Promise.resolve()
    earlier ??= readEarlier(first.seq)
    return earlier
  }

  return {
    current: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    loadEarlier: () => void loadEarlier(),
    async loadAll() {
      while (!isClosed && view.hasEarlier && view.error === null) await loadEarlier()
    },
    reload: () => void start(),
    open() {
      isClosed = false
      void start()
      const stopGone = live.onGone(() => void start())
      return () => {
        isClosed = true
        stopGone()
        unwatch()
      }
    },
  }
}

const emptyView = (transcript: Transcript): SessionLogView => ({
  status: 'loading',
  error: null,
  events: [],
  transcript,
  hasEarlier: false,
  isLoadingEarlier: false,
})

/** The log of a session for as long as the component is shown. `isKnown`: false until the server has the session. */
export function useSessionLog(sessionId: string, isKnown = true): SessionLog & SessionLogView {
  const client = useClient()
  const live = useLive()
  const log = useMemo(() => createSessionLog(sessionId, client, live), [sessionId, client, live])
  useEffect(() => (isKnown ? log.open() : undefined), [log, isKnown])
  const view = useSyncExternalStore(log.subscribe, log.current)
  return { ...log, ...view }
}
