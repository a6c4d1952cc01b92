import { type QueryFunctionContext, useQuery } from '@tanstack/react-query'
import type { Client, Inbox, InboxOptions } from 'quarterdeck/client'
import { usePlace } from './place.ts'
import { useClient } from './server.tsx'
import { useLiveState } from './use-live.tsx'

/** Empty: everything that waits. */
export type InboxFilter = Omit<InboxOptions, 'signal' | 'limit' | 'before'>
export type InboxPage = Inbox & { next: string | null }

export const INBOX_PAGE = 100

/** The server's order moves items between pages, so everything that was read is read again. */
export const inboxQuery = (client: Client, filter: InboxFilter) => ({
  queryKey: ['inbox', filter],
  queryFn: async ({ signal, client: queries, queryKey }: QueryFunctionContext): Promise<InboxPage> => {
    const had = queries.getQueryData<InboxPage>(queryKey)?.items.length ?? 0
    let read = await client.inbox({ ...filter, limit: INBOX_PAGE, signal })
    while (read.next !== null && read.items.length < had) {
      read = withNextPage(read, await client.inbox({ ...filter, limit: INBOX_PAGE, before: read.next, signal }))
    }
    return read
  },
})

/** Items that moved to a later page meanwhile are there once. */
export function withNextPage(read: InboxPage, page: InboxPage): InboxPage {
  const ids = new Set(read.items.map(({ id }) => id))
  return { ...page, items: [...read.items, ...page.items.filter(({ id }) => !ids.has(id))] }
}

/** Everything that waits for an operator, the most urgent first: as much of it as somebody has looked at. */
export function useInbox(isWanted = true) {
  const client = useClient()
  const { page } = usePlace()
  return useQuery({ enabled: isWanted && page === 'console', ...inboxQuery(client, {}) })
}

/** Everything is read again when the stream begins, so a number at the edge of the page waits for that. */
export const useWaiting = (): number => useInbox(useLiveState().status !== 'connecting').data?.total ?? 0
