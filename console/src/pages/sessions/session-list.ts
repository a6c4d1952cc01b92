// The rows of the list of sessions: pages on demand, and the newest ones again when something happens. Rows that were loaded stay, so
// the list does not jump while one reads it.

import type { Session } from 'quarterdeck/client'
import { createObserved } from '../../observed.ts'

const emptyView = {
  status: 'loading' as 'loading' | 'ready' | 'failed',
  error: null as unknown,
  rows: [] as readonly Session[],
  /** How many there are in all. Null: not known. */
  total: null as number | null,
  hasMore: false,
  isLoadingMore: false,
  /** When the rows came, for the time without a connection. */
  loadedAt: null as number | null,
}

interface Page {
  sessions: Session[]
  next: string | null
  /** Only of the first page. */
  total: number | null
}

type LoadPage = (before: string | null, signal: AbortSignal) => Promise<Page>

export function createSessionList(isNewestFirst: boolean, loadPage: LoadPage, now: () => number = Date.now) {
  const ended = new AbortController()
  const view = createObserved(emptyView)
  let next: string | null = null

  function set(changes: Partial<typeof emptyView>): void {
    if (!ended.signal.aborted) view.set({ ...view.current(), ...changes })
  }

  async function load(): Promise<void> {
    try {
      const page = await loadPage(null, ended.signal)
      next = page.next
      const { sessions: rows, total } = page
      set({ status: 'ready', error: null, rows, total, hasMore: next !== null, loadedAt: now() })
    } catch (error) {
      set(view.current().status === 'ready' ? { error } : { status: 'failed', error })
    }
  }

  async function loadMore(): Promise<void> {
    if (next === null || view.current().isLoadingMore) return
    set({ isLoadingMore: true })
    try {
      const page = await loadPage(next, ended.signal)
      next = page.next
      set({ rows: withoutTwice([...view.current().rows, ...page.sessions]), hasMore: next !== null, error: null })
    } catch (error) {
      set({ error })
    } finally {
      set({ isLoadingMore: false })
    }
  }

  async function refresh(touched: ReadonlySet<string>): Promise<void> {
    if (view.current().status !== 'ready') return load()
    try {
      const page = await loadPage(null, ended.signal)
      if (page.next === null) next = null
      const rows = (isNewestFirst ? refreshed : renewed)(view.current().rows, page, touched)
      set({ rows, total: page.total, hasMore: next !== null, error: null, loadedAt: now() })
    } catch (error) {
      set({ error })
    }
  }

  return {
    ...view,
    refetch: () => void load(),
    loadMore: () => void loadMore(),
    /** Something happened in these sessions. */
    refresh: (touched: ReadonlySet<string>) => void refresh(touched),
    remove(id: string): void {
      const { rows, total } = view.current()
      set({ rows: rows.filter(({ session_id }) => session_id !== id), total: total === null ? null : total - 1 })
    },
    /** A person has changed it here. */
    change(id: string, changes: Partial<Session>): void {
      set({ rows: view.current().rows.map((row) => (row.session_id === id ? { ...row, ...changes } : row)) })
    },
    close: () => ended.abort(),
  }
}

/**
 * The new first page, then the rows that were there before. A row in the time of the new page that is not in it does not fit the filters
 * any more, or was deleted. So does one that something has happened in, because such a session is among the newest.
 */
function refreshed(rows: readonly Session[], { sessions, next }: Page, touched: ReadonlySet<string>): Session[] {
  const oldest = sessions.at(-1)?.updated_at
  if (next === null || oldest === undefined) return [...sessions]
  const older = rows.filter((row) => row.updated_at < oldest && !touched.has(row.session_id))
  return withoutTwice([...sessions, ...older])
}

/** In another order, a session stays where it is while one reads. What has gone leaves. */
function renewed(rows: readonly Session[], { sessions, next }: Page, touched: ReadonlySet<string>): Session[] {
  if (next === null) return [...sessions]
  const fresh = new Map(sessions.map((session) => [session.session_id, session]))
  return rows.flatMap((row) => fresh.get(row.session_id) ?? (touched.has(row.session_id) ? [] : [row]))
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
