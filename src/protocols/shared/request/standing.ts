import type { Caller } from '../../../domain/decision.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import type { Principal } from '../../../http/route.ts'

/**
 * In which role a caller answers, and as whom the answer is kept. Only the operator's token makes an operator; the one that
 * is made at the first start names nobody. Without a token a caller is anyone, an agent's own tool perhaps.
 */
export function standingOf({ owner, role, hasToken }: Principal): Caller {
  if (role !== 'operator') return { user: owner, role: hasToken ? 'user' : 'anyone' }
  return { user: owner === LOCAL_USER ? 'operator' : owner, role }
}
