import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Client } from 'quarterdeck/client'
import { useEffect } from 'react'
import { useClient } from '../../data/server.tsx'
import { useLive } from '../../data/use-live.tsx'
import { announce } from '../../parts/Announcer.tsx'
import type { PriceList } from './timeline/step-cost.ts'

const DAY_MS = 86_400_000
/** The server adds up at most so many days. */
const MOST_DAYS = 400
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

/** Something that a person does to a session. What is done is said, and the session is read again. */
export function useSessionCommand<Input, Output>(
  id: string,
  send: (client: Client, input: Input) => Promise<Output>,
  done: (answer: Output) => string,
  failed = '',
) {
  const client = useClient()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => send(client, input),
    onSuccess: (answer) => {
      announce(done(answer))
      void queries.invalidateQueries({ queryKey: ['session', id] })
    },
    onError: (error) => announce(failed + error.message),
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

/** What the models of a session have used in its finished runs, what that cost, and the prices. */
export function useSessionUsage(id: string, createdAt: string) {
  const client = useClient()
  return useQuery({
    queryKey: ['session', id, 'usage'],
    queryFn: async ({ signal }) => {
      const oldest = new Date(Date.now() - (MOST_DAYS - 2) * DAY_MS).toISOString()
      const from = (createdAt < oldest ? oldest : createdAt).slice(0, 10)
      const { total, currency, prices } = await client.usage({ by: 'model', session: id, from, signal })
      return { total, prices: { currency, models: prices } satisfies PriceList }
    },
  })
}
