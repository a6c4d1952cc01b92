// What the chat reads from the server beside the conversation itself.

import { useQuery } from '@tanstack/react-query'
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
  return useQuery({
    queryKey: ['sessions', 'recent'],
    queryFn: async ({ signal }) => {
      const [chats, others] = await Promise.all(
        (['chat', 'supervised'] as const).map((kind) => client.sessions.list({ kind, limit: 30, signal })),
      )
      // One talks with hosted agents too.
      const hosted = others?.sessions.filter((one) => one.hosted) ?? []
      const sessions = [...(chats?.sessions ?? []), ...hosted]
      return { sessions: sessions.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)), next: chats?.next ?? null }
    },
  })
}
