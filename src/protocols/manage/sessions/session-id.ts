import { z } from 'zod'
import { ServerError } from '../../../domain/errors.ts'
import { isClientId } from '../../../domain/ids.ts'
import type { Request } from '../../../http/route.ts'

export const sessionTag = 'Sessions and runs'
export const sessionParams = { id: z.string().describe('UUID, ULID, or the name that its client chose.') }

/** The id in the path of a session or a run. Throws `malformed_id`. */
export function idOf(request: Pick<Request, 'params'>): string {
  const id = request.params.id ?? ''
  if (isClientId(id)) return id
  throw new ServerError(
    'malformed_id',
    `${JSON.stringify(id.slice(0, 140))} is not an id. Send a UUID, a ULID, or a name of 1 to 128 printable characters.`,
  )
}
