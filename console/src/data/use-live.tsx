import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from 'react'
import { announce } from '../parts/Announcer.tsx'
import { dropIfSettled } from './drafts.ts'
import { createLive, type Live } from './live.ts'
import type { LiveState } from './live-types.ts'
import type { SignedInProps } from './server.tsx'

/** What changes within this time is read once. */
const SETTLE_MS = 150

const LiveContext = createContext<Live | null>(null)

/** Keeps the data of the pages fresh: what the stream says has changed is read again. */
export function LiveProvider({ token, onRefused, children }: SignedInProps) {
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
    made.onGone(() => {
      void queries.invalidateQueries()
      announce('Something was missed, so the page was loaded again')
    })
    const stale = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | undefined
    made.onFeed((item) => {
      const { kind } = item
      stale.add('sessions')
      if (kind !== 'session' && kind !== 'run') stale.add('inbox')
      dropIfSettled(item)
      // Each new read stops the one before. If every item began one, a busy server would never be read to the end.
      timer ??= setTimeout(() => {
        timer = undefined
        for (const key of stale) void queries.invalidateQueries({ queryKey: [key] })
        stale.clear()
      }, SETTLE_MS)
    })
    setLive(made)
    return () => {
      clearTimeout(timer)
      made.close()
    }
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
