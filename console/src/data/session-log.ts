// The events of one session as a page shows them: the newest page first, earlier ones on demand, new ones as they happen.

import type { Client } from 'quarterdeck/client'
import { useEffect, useMemo } from 'react'
import { createObserved, useObserved } from '../observed.ts'
import type { Live } from './live.ts'
import { type LogEvent, toLogEvent } from './live-types.ts'
import { useClient } from './server.tsx'
import { uuidOfUlid } from './session-id.ts'
import { createTranscriptFold } from './transcript.ts'
import { useLive } from './use-live.tsx'

const PAGE = 1_000
/** Behind the last event, whichever that is. */
const END = Number.MAX_SAFE_INTEGER
/** Pages ask for earlier events for as long as they need them, also right after a failure. */
const PAUSE_MS = 3_000

export function createSessionLog(sessionId: string, client: Client, live: Live) {
  let fold = createTranscriptFold()
  let events: LogEvent[] = []
  const first = {
    status: 'loading' as 'loading' | 'ready' | 'failed',
    error: null as unknown,
    transcript: fold.current(),
    /** True if there are events before the first one here. */
    hasEarlier: false,
    isLoadingEarlier: false,
  }
  const view = createObserved(first)
  let unwatch = () => {}
  let isClosed = true
  let frame: number | null = null

  const set = (changes: Partial<typeof first>): void => view.set({ ...view.current(), ...changes })

  /** At most once a frame: a fast model sends hundreds of events a second. A hidden tab has no frames. */
  function show(): void {
    if (frame !== null) return
    const draw = () => {
      frame = null
      set({ transcript: fold.current() })
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
      set({ status: 'ready', error: null, transcript: fold.current(), hasEarlier: first > first_seq })
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

  async function loadEarlier(): Promise<void> {
    const before = events[0]?.seq
    const { hasEarlier, isLoadingEarlier } = view.current()
    if (before === undefined || !hasEarlier || isLoadingEarlier) return
    set({ isLoadingEarlier: true })
    try {
      const { events: page, first_seq } = await client.sessions.log(sessionId, { before, limit: PAGE })
      if (isClosed) return
      events = page.map(toLogEvent).concat(events)
      refold()
      const hasEarlier = page.length > 0 && (events[0]?.seq ?? 0) > first_seq
      set({ transcript: fold.current(), hasEarlier, isLoadingEarlier: false })
    } catch (error) {
      set({ error })
      setTimeout(() => set({ isLoadingEarlier: false }), PAUSE_MS)
    }
  }

  return {
    ...view,
    loadEarlier: () => void loadEarlier(),
    reload: () => void start(),
    /** Begins to load and to listen. The returned function ends it. */
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

/** The log of a session for as long as the component is shown. `isKnown`: false until the server has the session. */
export function useSessionLog(sessionId: string, isKnown = true) {
  const client = useClient()
  const live = useLive()
  const log = useMemo(() => createSessionLog(sessionId, client, live), [sessionId, client, live])
  useEffect(() => (isKnown ? log.open() : undefined), [log, isKnown])
  return { ...log, ...useObserved(log) }
}
