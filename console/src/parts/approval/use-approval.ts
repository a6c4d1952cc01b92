import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FeedItem } from '../../data/live-types.ts'
import { useClient } from '../../data/server.tsx'
import { useLive } from '../../data/use-live.tsx'

/** One approval with everything that would run. It is read again when the stream says that something happened to it. */
export function useApproval(id: string, { isWhole }: { isWhole: boolean }) {
  const client = useClient()
  useFreshRecord('approval', id)
  return useQuery({
    queryKey: ['approval', id, isWhole],
    queryFn: ({ signal }) => client.approval(id, { signal, include: isWhole ? ['all'] : [] }),
    // While all of it is on its way, the beginning stays. Another approval never shows in its place.
    placeholderData: (data, query) => (query?.queryKey[1] === id ? keepPreviousData(data) : undefined),
  })
}

/** The id of the record that an item of the feed is about. Null: it is about a session or a run. */
function recordIdOf(item: FeedItem): string | null {
  if (item.kind === 'approval') return item.approval_id
  if (item.kind === 'prompt') return item.prompt_id
  if (item.kind === 'wait') return item.wait_id
  return item.kind === 'alert' ? item.alert_id : null
}

type RecordKind = 'approval' | 'prompt' | 'wait' | 'alert'

/** Reads a record again when it changes. The feed says which one: nobody else's record is read for it. */
export function useFreshRecord(kind: RecordKind, id: string): void {
  const live = useLive()
  const queries = useQueryClient()
  useEffect(
    () =>
      live.onFeed((item) => {
        if (item.kind === kind && recordIdOf(item) === id) void queries.invalidateQueries({ queryKey: [kind, id] })
      }),
    [live, queries, kind, id],
  )
}
