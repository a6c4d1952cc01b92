import { useQuery } from '@tanstack/react-query'
import { useClient } from '../data/server.tsx'

/** Who talks here. It is asked once: another token is another person. */
export function useWho() {
  const client = useClient()
  return useQuery({
    queryKey: ['who'],
    queryFn: ({ signal }) => client.who({ signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
}
