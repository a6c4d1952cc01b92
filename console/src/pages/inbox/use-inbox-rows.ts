import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { INBOX_PAGE, type InboxFilter, type InboxPage, inboxQuery, withNextPage } from '../../data/waiting.ts'
import { rowsOf, takeList } from './inbox-rows.ts'

/** The rows that fit a filter, in the server's order. New ones come by themselves; the next page is read on demand. */
export function useInboxRows(filter: InboxFilter, openId: string | null) {
  const client = useClient()
  const queries = useQueryClient()
  const query = inboxQuery(client, filter)
  const key = JSON.stringify(filter)
  // While somebody types, what fitted before stays until the server answers.
  const { data, error, refetch, dataUpdatedAt, isPlaceholderData } = useQuery({
    ...query,
    placeholderData: keepPreviousData,
  })
  const [list, setList] = useState<{ key: string; listed: ReturnType<typeof takeList> }>({ key: '', listed: [] })
  /** Whether the pointer is on the list. What is done is kept for it, and for who has it open. */
  const isPointed = useRef(false)
  const keeps = useRef(openId)
  keeps.current = openId
  useEffect(() => {
    if (data === undefined || isPlaceholderData) return
    setList((was) => {
      const listed = takeList(was.key === key ? was.listed : [], data.items, data.next === null)
      return { key, listed: isPointed.current ? listed : withoutGone(listed, keeps.current) }
    })
  }, [data, isPlaceholderData, key])

  const reading = useRef(false)
  const [moreError, setMoreError] = useState<unknown>(null)
  async function loadMore(): Promise<void> {
    const before = data?.next ?? null
    if (before === null || isPlaceholderData || reading.current) return
    reading.current = true
    try {
      const page = await client.inbox({ ...filter, limit: INBOX_PAGE, before })
      setMoreError(null)
      queries.setQueryData<InboxPage>(query.queryKey, (was) => (was?.next === before ? withNextPage(was, page) : was))
    } catch (problem) {
      setMoreError(problem)
    } finally {
      reading.current = false
    }
  }
  return {
    rows: useMemo(() => rowsOf(list.listed), [list]),
    /** What the server says of everything that fits. Undefined: it has not answered yet. */
    data: list.key === '' ? undefined : data,
    error: error ?? moreError,
    /** When the list was read. */
    readAt: dataUpdatedAt,
    refetch: () => void (error === null ? loadMore() : refetch()),
    loadMore: () => void loadMore(),
    /** Lets go of rows that are done once the pointer has left. */
    onPointer(isThere: boolean): void {
      isPointed.current = isThere
      if (!isThere) setList((was) => ({ ...was, listed: withoutGone(was.listed, openId) }))
    },
  }
}

const withoutGone = (listed: ReturnType<typeof takeList>, openId: string | null) =>
  listed.filter(({ isGone, item }) => !isGone || item.id === openId)
