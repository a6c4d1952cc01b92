import { useQuery } from '@tanstack/react-query'
import { useClient } from './server.tsx'

/** The agents of this server. They change only when it starts again. */
export function useAgents() {
  const client = useClient()
  return useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => client.agents.list({ signal }),
    staleTime: 5 * 60_000,
  })
}
