// A session has an id, and maybe a name that its client chose. The stream knows sessions by their ids, so a page that was opened by a name
// finds the id first.

import { useQuery } from '@tanstack/react-query'
import { ClientError } from 'quarterdeck/client'
import { useClient } from './server.tsx'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** No such session: not there, or not even an id. */
export const isUnknownSession = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === 'session_not_found' || error.code === 'malformed_id')

export const isSessionId = (text: string): boolean => UUID.test(text)

/** The same 16 bytes as a UUID. Null: it is no ULID. */
export function uuidOfUlid(text: string): string | null {
  const ulid = text.toUpperCase()
  if (!ULID.test(ulid)) return null
  let value = 0n
  for (const digit of ulid) value = value * 32n + BigInt(DIGITS.indexOf(digit))
  const hex = value.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The id of a session that is named by its id, as a UUID or ULID, or by its name. Null if nothing has happened in it yet. */
export function useSessionId(reference: string) {
  const client = useClient()
  const known = isSessionId(reference) ? reference : uuidOfUlid(reference)
  return useQuery({
    queryKey: ['session-id', reference],
    // The ids of its events begin with it.
    queryFn: async ({ signal }) => {
      const { events } = await client.sessions.log(reference, { limit: 1, signal })
      return uuidOfUlid(events[0]?.id.split('.')[0] ?? '')
    },
    enabled: known === null,
    staleTime: Number.POSITIVE_INFINITY,
    initialData: known ?? undefined,
  })
}
