import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import type { AuditEntry, AuditOptions } from 'quarterdeck/client'
import { useEffect, useMemo } from 'react'
import { useClient } from '../../data/server.tsx'
import { given } from '../../given.ts'
import { type AuditFilters, questionOf } from './audit-filters.ts'

const PAGE = 100
const MOST_IN_A_PAGE = 500
/** Fewer rows than this do not fill a screen. */
const A_SCREEN = 40

/** Entries that fit, newest first, page by page. */
export function useAuditEntries(filters: AuditFilters) {
  const client = useClient()
  const question = questionOf(filters)
  const pages = useInfiniteQuery({
    queryKey: ['audit', question],
    queryFn: ({ pageParam, signal }) =>
      client.audit.list({
        ...question,
        limit: pageParam === null ? PAGE : MOST_IN_A_PAGE,
        ...given({ before: pageParam }),
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    // Reading again would read every page again. The page says when there are new entries.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const { data, hasNextPage, isFetching, fetchNextPage, error } = pages
  const entries = useMemo(() => data?.pages.flatMap((page) => page.entries) ?? [], [data])
  // The server looks through a part of the trail at a time, so a page may hold little although there is more.
  const isShort = data !== undefined && entries.length < A_SCREEN && hasNextPage
  useEffect(() => {
    if (isShort && !isFetching && error === null) void fetchNextPage()
  }, [isShort, isFetching, error, fetchNextPage])
  return {
    entries,
    isLoading: data === undefined || (entries.length === 0 && hasNextPage),
    error,
    readAt: pages.dataUpdatedAt,
    loadMore: () => {
      if (hasNextPage && !isFetching) void fetchNextPage()
    },
    refetch: () => void (data === undefined ? pages.refetch() : fetchNextPage()),
  }
}

/** Whether the trail is whole, asked again while the page is open. */
export function useChain() {
  const client = useClient()
  return useQuery({
    queryKey: ['audit-chain'],
    queryFn: ({ signal }) => client.audit.chain({ signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'checking' ? 1_000 : 10_000),
  })
}

/** Every entry that fits, in the order of the list. `onPage` hears how many there are so far. */
export async function readAllEntries(
  list: (options: AuditOptions) => Promise<{ entries: AuditEntry[]; next: string | null }>,
  question: AuditOptions,
  { signal, onPage }: { signal: AbortSignal; onPage: (count: number) => void },
): Promise<AuditEntry[]> {
  const all: AuditEntry[] = []
  let before: string | null = null
  do {
    const page: { entries: AuditEntry[]; next: string | null } = await list({
      ...question,
      limit: MOST_IN_A_PAGE,
      ...given({ before }),
      signal,
    })
    all.push(...page.entries)
    onPage(all.length)
    before = page.next
  } while (before !== null)
  return all
}
