import { useQuery } from '@tanstack/react-query'
import type { InboxOptions } from 'quarterdeck/client'
import { useEffect, useRef, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { INBOX_PAGE } from '../../data/waiting.ts'
import { type InboxRows, NO_ROWS, takeFirstPage, takeNextPage, withoutGone } from './inbox-rows.ts'

export type InboxFilter = Pick<InboxOptions, 'status' | 'kind' | 'risk' | 'session'>

/** The rows that fit a filter. New ones come by themselves; older ones are read on demand. Use a new component for a new filter. */
export function useInboxRows(filter: InboxFilter) {
  const client = useClient()
  const [list, setList] = useState<InboxRows>(NO_ROWS)
  const isPlain =
    filter.status === 'waiting' &&
    filter.kind === undefined &&
    filter.risk === undefined &&
    filter.session === undefined
  const { data, error, refetch, dataUpdatedAt, isPending } = useQuery({
    // The page that the navigation reads to count what waits is the same one.
    queryKey: isPlain ? ['inbox', 'open'] : ['inbox', filter],
    queryFn: ({ signal }) => client.inbox({ ...(isPlain ? {} : filter), limit: INBOX_PAGE, signal }),
  })
  useEffect(() => {
    if (data !== undefined) setList((was) => takeFirstPage(was, data))
  }, [data])

  const reading = useRef(false)
  const [moreError, setMoreError] = useState<unknown>(null)
  async function loadMore(): Promise<void> {
    const before = list.next
    if (before === null || reading.current) return
    reading.current = true
    try {
      const page = await client.inbox({ ...filter, limit: INBOX_PAGE, before })
      setMoreError(null)
      setList((was) => takeNextPage(was, page))
    } catch (problem) {
      setMoreError(problem)
    } finally {
      reading.current = false
    }
  }
  return {
    list,
    error: error ?? moreError,
    isLoading: isPending,
    /** When the newest part of it was read. */
    readAt: dataUpdatedAt,
    refetch: () => void (error === null ? loadMore() : refetch()),
    loadMore: () => void loadMore(),
    /** Lets go of rows that are done. */
    tidy: (openId: string | null) => setList((was) => withoutGone(was, openId)),
  }
}
