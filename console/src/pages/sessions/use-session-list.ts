import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { SessionListOptions } from 'quarterdeck/client'
import { useEffect, useMemo } from 'react'
import { useClient } from '../../data/server.tsx'
import { useLive } from '../../data/use-live.tsx'
import { given } from '../../given.ts'
import { useObserved } from '../../observed.ts'
import { questionOf, type SessionFilters } from './session-filters.ts'
import { createSessionList } from './session-list.ts'

const PAGE = 100
const SEARCH_PAGE = 30
/** A busy server has many changes a second. */
const REFRESH_MS = 1_500

/** The sessions that fit the filters, kept fresh by the stream. */
export function useSessionList(filters: SessionFilters) {
  const client = useClient()
  const live = useLive()
  const question = JSON.stringify(questionOf(filters))
  const hasStatus = filters.status !== ''
  const isNewestFirst = filters.sort === ''
  const list = useMemo(() => {
    const options: SessionListOptions = JSON.parse(question)
    return createSessionList(isNewestFirst, (before, signal) =>
      client.sessions.list({ ...options, ...given({ before }), count: before === null, limit: PAGE, signal }),
    )
  }, [client, question, isNewestFirst])
  useEffect(() => {
    list.refetch()
    let touched = new Set<string>()
    let timer: ReturnType<typeof setTimeout> | null = null
    const stopFeed = live.onFeed(({ session_id, kind, status }) => {
      // With other filters than the status, a session that does something still fits them.
      if ((hasStatus && isNewestFirst) || (kind === 'session' && status === 'terminated')) touched.add(session_id)
      timer ??= setTimeout(() => {
        timer = null
        list.refresh(touched)
        touched = new Set()
      }, REFRESH_MS)
    })
    const stopGone = live.onGone(list.refetch)
    const stopState = live.onState(() => live.state().status === 'live' && list.refresh(new Set()))
    return () => {
      for (const stop of [stopFeed, stopGone, stopState, list.close]) stop()
      if (timer !== null) clearTimeout(timer)
    }
  }, [list, live, hasStatus, isNewestFirst])
  return { ...list, ...useObserved(list) }
}

/** What was said, found by its words. Not again with every change: what one reads must not move. */
export function useSearchResults(filters: SessionFilters) {
  const client = useClient()
  const { status: _status, kind: _kind, feedback: _feedback, sort: _sort, ...question } = questionOf(filters)
  return useInfiniteQuery({
    queryKey: ['search', filters.q, question],
    queryFn: ({ signal, pageParam }) =>
      client.search(filters.q, {
        ...question,
        ...given({ before: pageParam }),
        limit: SEARCH_PAGE,
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: filters.q.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    // While older sessions are indexed there may soon be more.
    refetchInterval: ({ state: { data } }) =>
      data?.pages.length === 1 && data.pages[0]?.complete === false ? 5_000 : false,
  })
}
