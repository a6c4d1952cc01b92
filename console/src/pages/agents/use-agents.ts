import { useQuery } from '@tanstack/react-query'
import type { Agent, Session } from 'quarterdeck/client'
import { useClient } from '../../data/server.tsx'
import { folderName } from '../../words.ts'

export function useAgent(name: string) {
  const client = useClient()
  return useQuery({ queryKey: ['agents', name], queryFn: ({ signal }) => client.agents.get(name, { signal }) })
}

/** `openai/gpt-5`, or the program that does the work and where: `claude in shop`. */
export function workerOf({ model, host }: Pick<Agent, 'model' | 'host'>): string {
  if (model !== null) return `${model.provider}/${model.name}`
  const place = host?.workspace ?? null
  return `${host?.name ?? ''}${place === null ? '' : ` in ${folderName(place)}`}`
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
