import { ServerError, sessionNotFound } from '../../../domain/errors.ts'
import { isClientId, parseUuid } from '../../../domain/ids.ts'
import type { SessionRecord } from '../../../domain/session.ts'
import type { Sessions } from '../../../engine/ports/sessions.ts'

/**
 * The owner's session behind an id in either spelling or a name that is in use. Throws `session_not_found`, `malformed_id` for
 * what can be no id, and `session_expired` where idle sessions close.
 */
export async function knownSession(
  sessions: Pick<Sessions, 'find' | 'isExpired'>,
  owner: string,
  reference: string,
): Promise<SessionRecord> {
  const session = isClientId(reference) ? await sessions.find(owner, reference) : null
  if (session === null) throw parseUuid(reference) === null ? malformedId(reference) : sessionNotFound(reference)
  if (await sessions.isExpired(session)) {
    throw new ServerError(
      'session_expired',
      `Session ${JSON.stringify(reference)} was idle for too long and is closed. Start a new one.`,
      { details: { session_id: reference } },
    )
  }
  return session
}

const malformedId = (id: string): ServerError =>
  new ServerError(
    'malformed_id',
    `${JSON.stringify(id.slice(0, 140))} is no id: send a UUID, a ULID, or a name that is in use.`,
  )
