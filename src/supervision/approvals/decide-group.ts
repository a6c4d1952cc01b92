// One look for many: pending approvals of low risk that are alike are decided together, each with its own digest and its own record.

import { hasCode, ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { ReadScenes } from '../records/record-scenes.ts'
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

interface DecideGroupDeps {
  approvals: Pick<Approvals, 'get' | 'decide'>
  readScenes: ReadScenes
}

/** Throws `invalid_request`, and decides nothing, unless all of them are one group; `forbidden` if the caller may decide about none. */
export async function decideGroup(
  { approvals, readScenes }: DecideGroupDeps,
  by: Caller,
  { items, ...decision }: GroupDecision,
  correlationId?: string,
): Promise<GroupedItem[]> {
  const found: Approval[] = []
  // Somebody may have decided one of them meanwhile. It belonged to the group all the same.
  for (const { id } of items) found.push({ ...(await approvals.get(by, id)), status: 'pending' })
  const sceneOf = await readScenes(found)
  const [key, ...others] = found.map((one) => sceneOf(one).group ?? null)
  const other = key === null ? 0 : others.findIndex((one) => one !== key) + 1
  if (key === null || other > 0) throw notOneGroup(other)
  const decided: GroupedItem[] = []
  for (const { id, digest } of items) {
    try {
      const sent = { ...decision, digest, groupSize: items.length }
      decided.push({ approval: (await approvals.decide(by, id, sent, correlationId)).approval, error: null })
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

const notOneGroup = (index: number): ServerError =>
  new ServerError('invalid_request', 'These are not one group, so nothing was decided. Decide about each by itself.', {
    problems: [{ pointer: `/items/${index}/id`, detail: 'Send items of low risk with the same `view.group`.' }],
  })
