import { useQuery } from '@tanstack/react-query'
import type { Me } from 'quarterdeck/client'
import { useClient } from './server.tsx'

/** Who is signed in here, and what they may do. */
export function useMe() {
  const client = useClient()
  return useQuery({ queryKey: ['me'], queryFn: ({ signal }) => client.me({ signal }), staleTime: 5 * 60_000 })
}

/** Whether a session of this owner is one's own. Tokens that name no user are shown as `operator`, and their sessions as `local_user`. */
export const isOwn = ({ user }: Pick<Me, 'user'>, owner: string): boolean =>
  user === owner || (user === 'operator' && owner === 'local_user')
