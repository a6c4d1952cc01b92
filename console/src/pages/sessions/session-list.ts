// The rows of the list of sessions: pages on demand, and the newest ones again when something happens. Rows that were loaded stay, so
// the list does not jump while one reads it.

import type { Session } from 'quarterdeck/client'
import { createObserved } from '../../observed.ts'

const emptyView = {
  status: 'loading' as 'loading' | 'ready' | 'failed',
  error: null as unknown,
  rows: [] as readonly Session[],
  hasMore: false,
  isLoadingMore: false,
  /** When the rows came, for the time without a connection. */
  loadedAt: null as number | null,
}

type LoadPage = (before: string | null, signal: AbortSignal) => Promise<{ sessions: Session[]; next: string | null }>

export function createSessionList(loadPage: LoadPage, now: () => number = Date.now) {
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
      set({ status: 'ready', error: null, rows: page.sessions, hasMore: next !== null, loadedAt: now() })
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
      set({ rows: refreshed(view.current().rows, page, touched), hasMore: next !== null, error: null, loadedAt: now() })
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
    remove: (id: string) => set({ rows: view.current().rows.filter(({ session_id }) => session_id !== id) }),
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
