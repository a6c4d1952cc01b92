import { useQuery } from '@tanstack/react-query'
import type { Session } from 'quarterdeck/client'
import { useClient } from '../../data/server.tsx'

export function useAgent(name: string) {
  const client = useClient()
  return useQuery({ queryKey: ['agents', name], queryFn: ({ signal }) => client.agents.get(name, { signal }) })
}

const LOOKED_AT = 100

/** The newest sessions of agents that run elsewhere. */
export function useSupervised() {
  const client = useClient()
  return useQuery({
    queryKey: ['sessions', 'supervised-hosts'],
    queryFn: async ({ signal }): Promise<Session[]> =>
      (await client.sessions.list({ owner: '*', kind: 'supervised', limit: LOOKED_AT, signal })).sessions,
  })
}
