import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { useClient } from '../../data/server.tsx'
import { useLive } from '../../data/use-live.tsx'

const REFRESH_MS = 700
const RUNS = 20

/** A session, read again whenever something happens in it. */
export function useSession(id: string) {
  const client = useClient()
  const live = useLive()
  const queries = useQueryClient()
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null
    const stop = live.onFeed(({ session_id }) => {
      if (session_id !== id) return
      timer ??= setTimeout(() => {
        timer = null
        void queries.invalidateQueries({ queryKey: ['session', id] })
      }, REFRESH_MS)
    })
    return () => {
      stop()
      if (timer !== null) clearTimeout(timer)
    }
  }, [id, live, queries])
  return useQuery({
    queryKey: ['session', id, 'head'],
    queryFn: ({ signal }) => client.sessions.get(id, { limit: 1, signal }),
  })
}

/** The newest runs of a session. */
export function useRuns(id: string) {
  const client = useClient()
  return useQuery({
    queryKey: ['session', id, 'runs'],
    queryFn: ({ signal }) => client.sessions.runs(id, { limit: RUNS, signal }),
  })
}

/** What the models of a session have cost. Null: not known, because a model has no price or nothing was used. */
export function useCost(id: string, createdAt: string | undefined) {
  const client = useClient()
  return useQuery({
    queryKey: ['session', id, 'cost'],
    enabled: createdAt !== undefined,
    queryFn: async ({ signal }) => {
      const { rows, currency } = await client.usage({ by: 'session', from: (createdAt ?? '').slice(0, 10), signal })
      const cost = rows.find(({ key }) => key === id)?.cost ?? null
      return cost === null || cost === 0 ? null : { cost, currency }
    },
  })
}
