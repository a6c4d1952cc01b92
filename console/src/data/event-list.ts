// The events of one session as they are: for the log, the timeline and the replay. Pages come from the beginning or from the end, and new
// events as they happen. Unlike `session-log.ts` it makes no conversation of them, so 100,000 events load page by page without delay.

import type { Client, RunEvent } from 'quarterdeck/client'
import { useEffect, useMemo } from 'react'
import { createObserved, useObserved } from '../observed.ts'
import type { Live } from './live.ts'
import { type LogEvent, toLogEvent } from './live-types.ts'
import { useClient } from './server.tsx'
import { useLive } from './use-live.tsx'

interface EventListView {
  status: 'loading' | 'ready' | 'failed'
  error: unknown
  /** In ascending order. */
  events: readonly LogEvent[]
  hasEarlier: boolean
  hasLater: boolean
  isLoading: boolean
  /** Of the whole session: how far the loading has come can be told from it. */
  lastSeq: number
}

interface EventListOptions {
  /** Without the pieces of texts and arguments. */
  structure: boolean
  /** Where to begin. A number: the events after it, and earlier ones on demand. */
  from: 'start' | 'end' | number
  /** Goes on until everything is there. */
  loadsAll: boolean
}

const PAGE = 1_000
/** Before any event that there is or will be. */
const END = Number.MAX_SAFE_INTEGER

const pieces: ReadonlySet<RunEvent['type']> = new Set([
  'TEXT_MESSAGE_CONTENT',
  'REASONING_MESSAGE_CONTENT',
  'TOOL_CALL_ARGS',
])

export function createEventList(
  sessionId: string,
  client: { sessions: Pick<Client['sessions'], 'log'> },
  live: Pick<Live, 'watch' | 'onGone'>,
  { structure, from, loadsAll }: EventListOptions,
) {
  const view = createObserved<EventListView>(emptyView)
  let unwatch = () => {}
  /** Raised by every start, so that answers to earlier questions are dropped. */
  let turn = 0
  let isClosed = true
  let isLoadingAll = loadsAll

  const set = (changes: Partial<EventListView>): void => view.set({ ...view.current(), ...changes })

  const read = (place: { before?: number; after?: number }) =>
    client.sessions.log(sessionId, { ...place, limit: PAGE, structure })

  function addLive(entries: readonly LogEvent[]): void {
    const shown = structure ? entries.filter(({ event }) => !pieces.has(event.type)) : entries
    const { events, lastSeq } = view.current()
    set({
      lastSeq: Math.max(lastSeq, entries.at(-1)?.seq ?? 0),
      events: shown.length === 0 ? events : events.concat(shown),
    })
  }

  /** Listens once the last event is here. */
  function listen(): void {
    unwatch()
    const { hasLater, lastSeq } = view.current()
    unwatch = hasLater ? () => {} : live.watch(sessionId, lastSeq, addLive)
  }

  async function start(): Promise<void> {
    turn += 1
    const mine = turn
    unwatch()
    unwatch = () => {}
    set({ ...emptyView, isLoading: true })
    try {
      const place = from === 'end' ? { before: END } : { after: from === 'start' ? 0 : from }
      const page = await read(place)
      if (mine !== turn || isClosed) return
      const events = page.events.map(toLogEvent)
      const first = events[0]?.seq ?? page.first_seq
      set({
        status: 'ready',
        isLoading: false,
        events,
        lastSeq: page.last_seq,
        hasEarlier: from === 'end' ? page.next !== null : from !== 'start' && first > page.first_seq,
        hasLater: from !== 'end' && page.next !== null,
      })
      listen()
      if (isLoadingAll) await loadRest(mine)
    } catch (error) {
      if (mine === turn && !isClosed) set({ status: 'failed', error, isLoading: false })
    }
  }

  async function earlier(mine: number): Promise<void> {
    const { events, hasEarlier } = view.current()
    const first = events[0]?.seq ?? (typeof from === 'number' ? from + 1 : 0)
    if (!hasEarlier || first === 0) return
    const page = await read({ before: first })
    if (mine !== turn || isClosed) return
    set({ events: page.events.map(toLogEvent).concat(view.current().events), hasEarlier: page.next !== null })
  }

  async function later(mine: number): Promise<void> {
    const { events, hasLater } = view.current()
    if (!hasLater) return
    const page = await read({ after: events.at(-1)?.seq ?? 0 })
    if (mine !== turn || isClosed) return
    set({
      events: view.current().events.concat(page.events.map(toLogEvent)),
      lastSeq: page.last_seq,
      hasLater: page.next !== null,
    })
    if (page.next === null) listen()
  }

  const hasMore = () => view.current().hasEarlier || view.current().hasLater

  async function loadRest(mine: number): Promise<void> {
    isLoadingAll = true
    while (mine === turn && !isClosed && hasMore()) {
      set({ isLoading: true })
      await (view.current().hasLater ? later(mine) : earlier(mine))
    }
    if (mine === turn) set({ isLoading: false })
  }

  /** One question at a time, and what failed can be asked again. */
  function load(step: (mine: number) => Promise<void>): void {
    if (view.current().isLoading || view.current().status !== 'ready') return
    const mine = turn
    set({ isLoading: true, error: null })
    step(mine)
      .catch((error: unknown) => mine === turn && set({ error }))
      .finally(() => mine === turn && set({ isLoading: false }))
  }

  return {
    ...view,
    loadEarlier: () => view.current().hasEarlier && load(earlier),
    loadLater: () => view.current().hasLater && load(later),
    /** Goes on until there is nothing earlier or later. */
    loadAll: () => hasMore() && load(loadRest),
    refetch: () => void start(),
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

const emptyView: EventListView = {
  status: 'loading',
  error: null,
  events: [],
  hasEarlier: false,
  hasLater: false,
  isLoading: false,
  lastSeq: 0,
}

/** The events of a session for as long as the component is shown. */
export function useEventList(sessionId: string, { structure, from, loadsAll }: EventListOptions) {
  const client = useClient()
  const live = useLive()
  const list = useMemo(
    () => createEventList(sessionId, client, live, { structure, from, loadsAll }),
    [sessionId, client, live, structure, from, loadsAll],
  )
  useEffect(() => list.open(), [list])
  return { ...list, ...useObserved(list) }
}
