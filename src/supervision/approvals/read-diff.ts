import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import { agentsProposalId } from '../../domain/supervision/supervision.ts'
import type { SupervisedReads } from '../../store/ports/supervised.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { differenceBetween } from '../diffs/propose-change.ts'
import { shownDiff } from '../diffs/show-change.ts'
import { type LineRange, type ShownLines, showLines } from '../workspace/show-file.ts'
import { type ChangeSet, unpackSet } from '../worktrees/change-set.ts'

/** The changes of several files, one after the other. */
function readSet({ changes }: ChangeSet): ProposedDiff {
  const files = changes.map((change) => ({ path: change.path, shown: shownDiff(change).text }))
  return {
    diff: changes.map(({ diff }) => diff).join(''),
    shown: files.map(({ shown }) => shown).join('\n'),
    files,
    edit: null,
    content: () => null,
    lines({ path = '', ...range }) {
      const change = changes.find((one) => one.path === path)
      if (change?.after == null)
        throw new ServerError('file_not_found', `These changes write no file ${JSON.stringify(path)}.`)
      return showLines(path, decodeFile(change.after, path).text, range)
    },
  }
}

/** What is behind the approval of a change. */
export interface ProposedDiff {
  /** Its exact text. */
  diff: string
  /** The same with every hidden character marked. */
  shown: string
  /** The same by file, where it is about several. Empty: it is about one. */
  files: { path: string; shown: string }[]
  /** What an operator changed in the agent's proposal, with marks. Null: nobody edited it. */
  edit: string | null
  /** The whole text after the change; null: the change deletes the file. */
  content(): string | null
  /**
   * Lines of that text, for what stands between the parts of the diff. They are those that the diff was made from, whatever the disk has
   * by now. Throws as `showLines` does, and `file_not_found` for a deletion.
   */
  lines(range: LineRange & { path?: string | undefined }): ShownLines
}

/** Null: it changes no file, or an operator has edited the call, and the diff was of the call before. */
export type ReadDiff = (approval: Approval) => Promise<ProposedDiff | null>

export const createReadDiff =
  ({ supervised }: { supervised: Pick<SupervisedReads, 'proposal'> }): ReadDiff =>
  async ({ id, editedArguments, supervised: asked }) => {
    const proposal = asked === undefined || editedArguments !== null ? null : await supervised.proposal(id)
    if (proposal === null) return null
    if (asked?.changes !== undefined) return readSet(unpackSet(proposal, asked.contentKey))
    const { diff, after } = proposal
    const path = asked?.change?.path ?? ''
    const agents = asked?.isEdited === true ? await supervised.proposal(agentsProposalId(id)) : null
    const content = (): string | null => (after === null ? null : decodeFile(after, path).text)
    return {
      diff,
      shown: shownDiff({ path, diff }).text,
      files: [],
      edit: agents === null ? null : shownDiff({ path, diff: differenceBetween(path, agents.after, after) }).text,
      content,
      lines(range) {
        const text = content()
        if (text !== null) return showLines(path, text, range)
        throw new ServerError('file_not_found', 'The change deletes the file. The diff has all of its lines.')
      },
    }
  }
