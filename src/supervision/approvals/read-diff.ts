import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import { agentsProposalId } from '../../domain/supervision/supervision.ts'
import type { SupervisedReads } from '../../store/ports/supervised.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { differenceBetween } from '../diffs/propose-change.ts'
import { shownDiff } from '../diffs/show-change.ts'
import { type LineRange, type ShownLines, showLines } from '../workspace/show-file.ts'

/** What is behind the approval of a change. */
export interface ProposedDiff {
  /** Its exact text. */
  diff: string
  /** The same with every hidden character marked. */
  shown: string
  /** What an operator changed in the agent's proposal, with marks. Null: nobody edited it. */
  edit: string | null
  /** The whole text after the change; null: the change deletes the file. */
  content(): string | null
  /**
   * Lines of that text, for what stands between the parts of the diff. They are those that the diff was made from, whatever the disk has
   * by now. Throws as `showLines` does, and `file_not_found` for a deletion.
   */
  lines(range: LineRange): ShownLines
}

/** Null: it changes no file, or an operator has edited the call, and the diff was of the call before. */
export type ReadDiff = (approval: Approval) => Promise<ProposedDiff | null>

export const createReadDiff =
  ({ supervised }: { supervised: Pick<SupervisedReads, 'proposal'> }): ReadDiff =>
  async ({ id, editedArguments, supervised: asked }) => {
    const proposal = asked === undefined || editedArguments !== null ? null : await supervised.proposal(id)
    if (proposal === null) return null
    const { diff, after } = proposal
    const path = asked?.change?.path ?? ''
    const agents = asked?.isEdited === true ? await supervised.proposal(agentsProposalId(id)) : null
    const content = (): string | null => (after === null ? null : decodeFile(after, path).text)
    return {
      diff,
      shown: shownDiff({ path, diff }).text,
      edit: agents === null ? null : shownDiff({ path, diff: differenceBetween(path, agents.after, after) }).text,
      content,
      lines(range) {
        const text = content()
        if (text !== null) return showLines(path, text, range)
        throw new ServerError('file_not_found', 'The change deletes the file. The diff has all of its lines.')
      },
    }
  }
