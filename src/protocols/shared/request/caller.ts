import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { Starter } from '../../../engine/ports/runs.ts'
import type { Principal, Request } from '../../../http/route.ts'
import type { Viewer } from '../../../supervision/oversight/oversight.ts'

/**
 * Who decides, for the record, and in which role. Only an operator's token makes an operator; the token from the first start names no
 * user. Without a token a caller can be anyone, even a tool of the agent.
 */
export function callerOf({ principal, via }: Pick<Request, 'principal' | 'via'>): Caller & { via: string } {
  const { owner, role, hasToken, tokenId, isConsole = false, proof, groups, isAdmin } = principal
  const how = { via: via === 'http' && isConsole ? 'console' : via, credential: tokenId, proof, groups, isAdmin }
  if (role !== 'operator') return { user: owner, role: hasToken ? 'user' : 'anyone', ...how }
  return { user: owner === LOCAL_USER ? 'operator' : owner, role, ...how }
}

/** Who starts a run, and what limits them. */
export const starterOf = ({ owner, groups, agent }: Principal): Starter => ({ owner, groups, onlyAgent: agent })

export const viewerOf = (request: Pick<Request, 'principal' | 'via'>): Viewer => ({
  by: callerOf(request),
  owner: request.principal.owner,
})
