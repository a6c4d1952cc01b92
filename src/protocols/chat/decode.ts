import { ServerError } from '../../domain/errors.ts'
import { LOCAL_USER } from '../../domain/session/session.ts'
import { validBody } from '../shared/request/validate.ts'
import { ChatRequestSchema } from './schema.ts'

/** Throws `invalid_request`. */
export function decodeChat(body: unknown) {
  const { message, session_id, user_id } = validBody(ChatRequestSchema, body, 'The body is not a valid chat request.')
  return { message, sessionId: session_id ?? null, userId: user_id ?? null }
}

/**
 * The label that `user_id` gives to the caller's sessions; null for sessions of the owner itself. For `local_user`, who is also
 * everybody without a token, it is only a label. With the token of somebody else it must be their name, otherwise this throws `forbidden`.
 */
export function userLabel(owner: string, userId: string | null): string | null {
  if (userId === null || userId === owner) return null
  if (owner === LOCAL_USER) return userId
  throw new ServerError('forbidden', `The token is ${JSON.stringify(owner)}'s. Leave user_id out, or send that name.`)
}
