import { keepPreviousData, type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Client, ClientError } from 'quarterdeck/client'
import { useEffect, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { useLive } from '../../data/use-live.tsx'
import { useInbox } from '../../data/waiting.ts'
import { announce } from '../Announcer.tsx'
import type { GivenAnswer } from './AnswerForm.tsx'
import type { RecordAction } from './record-actions.ts'
import { kindsOfRecords, type RecordKind, readRecord } from './record-kinds.ts'

/** A record of an agent elsewhere. */
export function useRecord(kind: RecordKind, id: string) {
  const client = useClient()
  useFreshRecord(kind, id)
  return useQuery({ queryKey: [kind, id], queryFn: ({ signal }) => readRecord(client, kind, id, { signal }) })
}

/** A way to answer, one at a time. Nothing counts as answered before the server says so. */
export function useAnswer(onProblem: (error: unknown) => void) {
  const client = useClient()
  const queries = useQueryClient()
  const [busyId, setBusy] = useState<string | null>(null)

  /** `late`: somebody else was faster. `open`: it did not work, and can be tried again. `said`: what was done. */
  async function answer(
    { id, kind }: { id: string; kind: RecordKind },
    action: RecordAction,
    { text = '', ...more }: GivenAnswer & { digest?: string },
    said: string,
  ): Promise<'done' | 'late' | 'open'> {
    if (busyId !== null) return 'open'
    setBusy(id)
    try {
      await client.answer(action, { text, more })
      announce(said)
      return 'done'
    } catch (error) {
      const isLate = error instanceof ClientError && error.code === 'record_decided'
      if (isLate) announce(error.message)
      else onProblem(error)
      return isLate ? 'late' : 'open'
    } finally {
      void queries.invalidateQueries({ queryKey: ['inbox'] })
      await queries.invalidateQueries({ queryKey: [kind, id] })
      setBusy(null)
    }
  }
  return { answer, busyId }
}

/** An approval with everything that would run. `isWhole`: also what is too long to be read at once. */
export function useApproval(id: string, { isWhole }: { isWhole: boolean }) {
  const client = useClient()
  useFreshRecord('approval', id)
  return useQuery({
    queryKey: isWhole ? ['approval', id, 'all'] : ['approval', id],
    queryFn: ({ signal }) => client.approval(id, { signal, include: isWhole ? ['all'] : [] }),
    // While all of it is on its way, the beginning stays. Another approval never shows in its place.
    placeholderData: (data, query) => (query?.queryKey[1] === id ? keepPreviousData(data) : undefined),
  })
}

/** Reads a record again when it changes. The feed says which one: nobody else's record is read for it. */
function useFreshRecord(kind: RecordKind, id: string): void {
  const live = useLive()
  const queries = useQueryClient()
  useEffect(
    () =>
      live.onFeed((item) => {
        const named: Readonly<Record<string, unknown>> = { ...item }
        if (item.kind === kind && named[`${kind}_id`] === id) void queries.invalidateQueries({ queryKey: [kind, id] })
      }),
    [live, queries, kind, id],
  )
}

/** What kind of record an id is, for a link that knows nothing but the id. */
export function useRecordKind(id: string, listed: RecordKind | undefined) {
  const client = useClient()
  const queries = useQueryClient()
  // Most links lead to something that waits, so the inbox knows.
  const inbox = useInbox()
  const known = listed ?? inbox.data?.items.find((item) => item.id === id)?.kind
  const { data, error, refetch } = useQuery({
    queryKey: ['kind-of-record', id],
    enabled: known === undefined && !inbox.isPending,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => kindOf(client, queries, id, signal),
  })
  return { kind: known ?? data, error: known === undefined ? error : null, refetch }
}

/** Throws what the server says about an approval if there is no such record. */
async function kindOf(client: Client, queries: QueryClient, id: string, signal: AbortSignal): Promise<RecordKind> {
  let missing: unknown = null
  for (const { kind } of kindsOfRecords) {
    try {
      queries.setQueryData([kind, id], await readRecord(client, kind, id, { signal }))
      return kind
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 404) throw error
      missing ??= error
    }
  }
  throw missing
}
