import { useQuery } from '@tanstack/react-query'
import type { Me } from 'quarterdeck/client'
import { usePlace } from './place.ts'
import { useClient } from './server.tsx'

/** The operator who is signed in here, and what they may do. */
export function useMe() {
  const client = useClient()
  const enabled = usePlace().role === 'operator'
  return useQuery({ enabled, queryKey: ['me'], queryFn: ({ signal }) => client.me({ signal }), staleTime: 5 * 60_000 })
}

/** The name of an owner, or null where it goes without saying: it is one's own session. */
export function useOtherOwner(owner: string | null): string | null {
  const { data } = useMe()
  return owner === null || data === undefined || isOwn(data, owner) ? null : owner
}

/** Whether a session of this owner is one's own. */
export const isOwn = (me: Pick<Me, 'owner'>, owner: string): boolean => me.owner === owner
