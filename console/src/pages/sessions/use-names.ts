import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../data/server.tsx'

/** Names for the filters: the agents of the server, and the owners of the newest sessions. */
export function useNames(): { agents: string[]; owners: string[] } {
  const client = useClient()
  const { data: agents = [] } = useQuery({
    queryKey: ['agents'],
    queryFn: ({ signal }) => client.agents.list({ signal }),
  })
  const { data: sessions = [] } = useQuery({
    queryKey: ['session-owners'],
    queryFn: async ({ signal }) => (await client.sessions.list({ owner: '*', limit: 100, signal })).sessions,
    staleTime: 5 * 60_000,
  })
  const hosts = sessions.map(({ agent }) => agent)
  return {
    agents: sorted([...agents.map(({ name }) => name), ...hosts]),
    owners: sorted(sessions.map(({ owner }) => owner)),
  }
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].filter((name) => name !== '').sort()
