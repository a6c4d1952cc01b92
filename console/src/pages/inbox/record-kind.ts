import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { type Client, ClientError, type InboxItem } from 'quarterdeck/client'
import { useClient } from '../../data/server.tsx'
import { useInbox } from '../../data/waiting.ts'

/** Which card an id needs, for a link that knows nothing but the id. */
export function useRecordKind(id: string, listed: InboxItem['kind'] | undefined) {
  const client = useClient()
  const queries = useQueryClient()
  // Most links lead to something that waits, so the inbox knows.
  const inbox = useInbox()
  const known = listed ?? inbox.data?.items.find((item) => item.id === id)?.kind
  const { data, error, refetch } = useQuery({
    queryKey: ['kind-of-record', id],
    enabled: known === undefined && !inbox.isPending,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => kindOf(client, queries, id, signal),
  })
  return { kind: known ?? data, error: known === undefined ? error : null, retry: () => void refetch() }
}

/** Throws what the server says about an approval if there is no such record. */
async function kindOf(
  client: Client,
  queries: QueryClient,
  id: string,
  signal: AbortSignal,
): Promise<InboxItem['kind']> {
  const tries = [
    ['approval', async () => queries.setQueryData(['approval', id, false], await client.approval(id, { signal }))],
    ['prompt', async () => queries.setQueryData(['prompt', id], await client.prompts.get(id, { signal }))],
    ['wait', async () => queries.setQueryData(['wait', id], await client.waits.get(id, { signal }))],
    ['alert', async () => queries.setQueryData(['alert', id], await client.alerts.get(id, { signal }))],
  ] as const
  let missing: unknown = null
  for (const [kind, read] of tries) {
    try {
      await read()
      return kind
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 404) throw error
      missing ??= error
    }
  }
  throw missing
}
