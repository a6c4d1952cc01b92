import { LOCAL_USER } from '../../domain/session.ts'
import type { Standing } from '../../engine/engine.ts'
import type { Principal } from '../../http/route.ts'

/**
 * In which role a caller answers, and as whom the answer is kept. Only the operator's token makes an operator; the one that
 * is made at the first start names nobody.
 */
export function standingOf({ owner, role }: Principal): Standing {
  if (role !== 'operator') return { user: owner, role: 'user' }
  return { user: owner === LOCAL_USER ? 'operator' : owner, role }
}
