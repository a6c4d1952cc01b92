import { useQuery } from '@tanstack/react-query'
import { useClient } from './server.tsx'

/** Who is signed in here, and what they may do. */
export function useMe() {
  const client = useClient()
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.me({ signal }), staleTime: 5 * 60_000 })
}
