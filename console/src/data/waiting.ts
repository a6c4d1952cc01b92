import { useQuery } from '@tanstack/react-query'
import { usePlace } from './place.ts'
import { useClient } from './server.tsx'

/** What a page of the inbox holds. More than this many are shown as `100+`. */
export const INBOX_PAGE = 100

/** Everything that waits for an operator, newest first: the first page. */
export function useInbox() {
  const client = useClient()
  const { page } = usePlace()
  return useQuery({
    enabled: page === 'console',
    queryKey: ['inbox', 'open'],
    queryFn: ({ signal }) => client.inbox({ limit: INBOX_PAGE, signal }),
  })
}

export const useWaiting = (): number => useInbox().data?.items.length ?? 0
