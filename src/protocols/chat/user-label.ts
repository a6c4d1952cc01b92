import { ServerError } from '../../domain/errors.ts'
import { LOCAL_USER } from '../../domain/session.ts'

/**
 * What `user_id` says about the caller's sessions: a label without a token, nothing more. With a token it can only repeat whose
 * that is. Null: sessions of the owner itself. Throws `forbidden`.
 */
export function userLabel(owner: string, userId: string | null): string | null {
  if (userId === null || userId === owner) return null
  if (owner === LOCAL_USER) return userId
  throw new ServerError('forbidden', `The token is ${JSON.stringify(owner)}'s. Leave user_id out, or send that name.`)
}
