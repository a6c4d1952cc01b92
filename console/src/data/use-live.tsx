import { useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import { createLive, type Live } from './live.ts'
import type { LiveState } from './live-types.ts'

const LiveContext = createContext<Live | null>(null)

/** Keeps the data of the pages fresh: what the stream says has changed is read again. */
export function LiveProvider({
  token,
  onRefused,
  children,
}: {
  token: string
  onRefused: () => void
  children: ReactNode
}) {
  const [live, setLive] = useState<Live | null>(null)
  const queries = useQueryClient()
  useEffect(() => {
    const made = createLive(token)
    let wasLive = false
    made.onState(() => {
      const { status } = made.state()
      if (status === 'refused') onRefused()
      // Something may have happened before the stream began.
      if (status === 'live' && !wasLive) void queries.invalidateQueries()
      wasLive = status === 'live'
    })
    made.onGone(() => void queries.invalidateQueries())
    made.onFeed(({ kind }) => {
      void queries.invalidateQueries({ queryKey: ['sessions'] })
      if (kind !== 'session' && kind !== 'run') void queries.invalidateQueries({ queryKey: ['inbox'] })
    })
    setLive(made)
    return () => made.close()
  }, [token, queries, onRefused])
  if (live === null) return null
  return <LiveContext value={live}>{children}</LiveContext>
}

export function useLive(): Live {
  const live = useContext(LiveContext)
  if (live === null) throw new Error('only a page that is signed in is live')
  return live
}

export function useLiveState(): LiveState {
  const live = useLive()
  return useSyncExternalStore(live.onState, live.state)
}

/** False: what is shown may be old, and nothing can be decided. */
export const useIsLive = (): boolean => useLiveState().status === 'live'
