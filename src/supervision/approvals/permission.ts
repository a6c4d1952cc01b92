// Who may see an approval, and who may decide it.

import { ServerError } from '../../domain/errors.ts'
import { type Approval, isSupervisedApproval } from '../../domain/records/record.ts'
import type { Caller } from '../../domain/supervision/decision.ts'
import type { SyncedWaits } from '../../engine/waits/synced-waits.ts'

/** Throws `approval_not_found` for an approval that does not exist or that the caller may not see. */
export async function visibleApproval(waits: SyncedWaits, by: Caller, id: string): Promise<Approval> {
  const wait = await waits.get(id)
  if (wait?.wait === 'approval' && (by.role === 'operator' || wait.owner === by.user)) return wait
  throw new ServerError('approval_not_found', `There is no approval ${JSON.stringify(id)}.`)
}

/** Throws `forbidden`. */
export function refuseWithoutPermission(by: Caller, approval: Approval): void {
  if (mayDecide(by, approval)) return
  const isOwners = approval.answerableBy === 'owner'
  const who = isOwners ? "the session's owner or an operator" : 'an operator'
  const still = approval.status === 'pending' ? ' It is still pending.' : ''
  const isElsewhere = isSupervisedApproval(approval)
  const fix = by.role === 'anyone' ? tokenToSend(isOwners) : `${OPERATORS_WAY}${isElsewhere ? '' : OWNERS_WAY}`
  throw new ServerError('forbidden', `Only ${who} may answer this.${still} ${fix}`, {
    details: { approval_id: approval.id, answerable_by: approval.answerableBy },
  })
}

const mayDecide = (by: Caller, approval: Approval): boolean =>
  by.role === 'operator' || (by.role === 'user' && approval.answerableBy === 'owner' && approval.owner === by.user)

/** Talking may need no token where deciding does, so a caller without one is told how to get it. */
const tokenToSend = (isOwners: boolean): string =>
  `Send ${isOwners ? "a user's" : "an operator's"} token in the header "Authorization: Bearer <token>"; in a page, that is \`headers\` of ` +
  `HttpAgent or CopilotKitProvider. \`quarterdeck tokens create --role ${isOwners ? 'user' : 'operator'}\` prints one.`

/** For a caller whose token is a user's. */
const OPERATORS_WAY = 'An operator answers it in the console or with `quarterdeck ctl approve`.'
const OWNERS_WAY =
  ' To let the owner of a session answer what is not critical, write `approval: { by: owner }` in the agent file.'
