// What the chat reads from the server beside the conversation itself.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { SessionRow } from 'quarterdeck/client'
import { useAgents } from '../../data/agents.ts'
import { useClient } from '../../data/server.tsx'

export function useSession(id: string, isKnown: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['sessions', id],
    queryFn: ({ signal }) => client.sessions.get(id, { limit: 1, signal }),
    enabled: isKnown,
  })
}

/** The newest runs: which one is at work, and which wait for their turn. */
export function useRuns(id: string, isKnown: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['sessions', id, 'runs'],
    queryFn: ({ signal }) => client.sessions.runs(id, { limit: 20, signal }),
    enabled: isKnown,
  })
}

export function useRecentChats() {
  const client = useClient()
  const agents = useAgents()
  // One talks with hosted agents too. They are listed as coding agents, which nobody asks for where there are none.
  const hasHosted = agents.data?.some(({ host }) => host !== null) ?? false
  return useQuery({
    queryKey: ['sessions', 'recent', hasHosted],
    queryFn: async ({ signal }) => {
      const list = (kind: SessionRow['kind']) => client.sessions.list({ kind, limit: 30, signal })
      const [chats, others] = await Promise.all([list('chat'), hasHosted ? list('supervised') : null])
      const sessions = [...chats.sessions, ...(others?.sessions.filter((one) => one.hosted) ?? [])]
      return { sessions: sessions.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)), next: chats.next }
    },
    placeholderData: keepPreviousData,
  })
}
