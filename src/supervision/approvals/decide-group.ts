// One look for many: pending approvals of low risk that are alike are decided together, each with its own digest and its own record.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import { groupOf } from '../records/group-of.ts'
import type { Approvals } from './approvals.ts'

export interface GroupDecision extends Pick<Decision, 'reason' | 'lookedAt'> {
  decision: 'approve' | 'reject'
  items: readonly { id: string; digest: string }[]
}

/** `error`: why it was not decided by this. */
export interface GroupedItem {
  approval: Approval
  error: ServerError | null
}

/** Throws `invalid_request`, and decides nothing, unless all of them are one group; `forbidden` if the caller may decide about none. */
export type DecideGroup = (by: Caller, given: GroupDecision, correlationId?: string) => Promise<GroupedItem[]>

interface DecideGroupDeps {
  approvals: Pick<Approvals, 'get' | 'decide'>
  /** Where the agent of a session works; null: nowhere. */
  workspaceOf: (sessionId: string) => Promise<string | null>
}

export function createDecideGroup({ approvals, workspaceOf }: DecideGroupDeps): DecideGroup {
  /** Somebody may have decided one of them meanwhile. It belonged to the group all the same. */
  async function groupedAs(by: Caller, id: string): Promise<string | null> {
    const approval = await approvals.get(by, id)
    return groupOf({ ...approval, status: 'pending' }, await workspaceOf(approval.sessionId))
  }

  return async (by, { items, ...decision }, correlationId) => {
    const keys: (string | null)[] = []
    for (const { id } of items) keys.push(await groupedAs(by, id))
    const other = keys.findIndex((key) => key === null || key !== keys[0])
    if (other !== -1) throw notOneGroup(other)
    const size = items.length
    const decided: GroupedItem[] = []
    for (const { id, digest } of items) {
      try {
        const { approval } = await approvals.decide(by, id, { ...decision, digest, groupSize: size }, correlationId)
        decided.push({ approval, error: null })
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        decided.push({ approval: await approvals.get(by, id), error })
      }
    }
    // Whoever may decide about none of them is refused like anybody else, and is on record for it.
    const refused = decided.map(({ error }) => error)
    const [first] = refused
    if (first != null && refused.every((error) => hasCode(error, 'forbidden'))) throw first
    return decided
  }
}

const notOneGroup = (index: number): ServerError =>
  new ServerError('invalid_request', 'These are not one group, so nothing was decided. Decide about each by itself.', {
    problems: [{ pointer: `/items/${index}/id`, detail: 'Send items of low risk with the same `view.group`.' }],
  })
