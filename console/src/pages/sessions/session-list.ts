// The rows of the list of sessions: pages on demand, and the newest ones again when something happens. Rows that were loaded stay, so
// the list does not jump while one reads it.

import type { Session } from 'quarterdeck/client'

export interface SessionListView {
  status: 'loading' | 'ready' | 'failed'
  error: unknown
  rows: readonly Session[]
  hasMore: boolean
  isLoadingMore: boolean
  /** When the rows came, for the time without a connection. */
  loadedAt: number | null
}

export interface SessionList {
  current(): SessionListView
  subscribe(listener: () => void): () => void
  load(): void
  loadMore(): void
  /** Something happened in these sessions. */
  refresh(touched: ReadonlySet<string>): void
  remove(id: string): void
  close(): void
}

export type LoadPage = (
  before: string | null,
  signal: AbortSignal,
) => Promise<{ sessions: Session[]; next: string | null }>

export function createSessionList(loadPage: LoadPage, now: () => number = Date.now): SessionList {
  const listeners = new Set<() => void>()
  const ended = new AbortController()
  let next: string | null = null
  let view: SessionListView = {
    status: 'loading',
    error: null,
    rows: [],
    hasMore: false,
    isLoadingMore: false,
    loadedAt: null,
  }

  function set(changes: Partial<SessionListView>): void {
    if (ended.signal.aborted) return
    view = { ...view, ...changes }
    for (const listener of listeners) listener()
  }

  async function load(): Promise<void> {
    try {
      const page = await loadPage(null, ended.signal)
      next = page.next
      set({ status: 'ready', error: null, rows: page.sessions, hasMore: next !== null, loadedAt: now() })
    } catch (error) {
      set(view.status === 'ready' ? { error } : { status: 'failed', error })
    }
  }

  async function loadMore(): Promise<void> {
    if (next === null || view.isLoadingMore) return
    set({ isLoadingMore: true })
    try {
      const page = await loadPage(next, ended.signal)
      next = page.next
      set({ rows: withoutTwice([...view.rows, ...page.sessions]), hasMore: next !== null, error: null })
    } catch (error) {
      set({ error })
    } finally {
      set({ isLoadingMore: false })
    }
  }

  async function refresh(touched: ReadonlySet<string>): Promise<void> {
    if (view.status !== 'ready') return load()
    try {
      const page = await loadPage(null, ended.signal)
      if (page.next === null) next = null
      set({ rows: refreshed(view.rows, page, touched), hasMore: next !== null, error: null, loadedAt: now() })
    } catch (error) {
      set({ error })
    }
  }

  return {
    current: () => view,
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    load: () => void load(),
    loadMore: () => void loadMore(),
    refresh: (touched) => void refresh(touched),
    remove: (id) => set({ rows: view.rows.filter(({ session_id }) => session_id !== id) }),
    close: () => ended.abort(),
  }
}

/**
 * The new first page, then the rows that were there before. A row in the time of the new page that is not in it does not fit the filters
 * any more, or was deleted. So does one that something has happened in, because such a session is among the newest.
 */
function refreshed(
  rows: readonly Session[],
  { sessions, next }: { sessions: readonly Session[]; next: string | null },
  touched: ReadonlySet<string>,
): Session[] {
  const oldest = sessions.at(-1)?.updated_at
  if (next === null || oldest === undefined) return [...sessions]
  const older = rows.filter((row) => row.updated_at < oldest && !touched.has(row.session_id))
  return withoutTwice([...sessions, ...older])
}

/** A session that moved up while pages were loaded is in two of them. The first is the newer one. */
function withoutTwice(rows: readonly Session[]): Session[] {
  const seen = new Set<string>()
  return rows.filter(({ session_id }) => {
    const isNew = !seen.has(session_id)
    seen.add(session_id)
    return isNew
  })
}
