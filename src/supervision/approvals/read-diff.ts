import type { Approval } from '../../domain/wait.ts'
import type { SupervisedReads } from '../../store/ports/supervised.ts'
import { shownDiff } from '../diffs/show-change.ts'

/** The diff behind the approval of a change: its exact text, and the same with every hidden character marked. Null: it changes no file. */
export type ReadDiff = (approval: Approval) => Promise<{ diff: string; shown: string } | null>

export const createReadDiff =
  ({ supervised }: { supervised: Pick<SupervisedReads, 'proposal'> }): ReadDiff =>
  async ({ id, supervised: asked }) => {
    const proposal = asked === undefined ? null : await supervised.proposal(id)
    if (proposal === null) return null
    const { diff } = proposal
    return { diff, shown: shownDiff({ path: asked?.change?.path ?? '', diff }).text }
  }
