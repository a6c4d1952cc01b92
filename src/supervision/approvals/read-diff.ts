import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import { agentsProposalId } from '../../domain/supervision/supervision.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { SupervisedReads } from '../../store/ports/supervised.ts'
import { decodeFile } from '../diffs/file-text.ts'
import { differenceBetween } from '../diffs/propose-change.ts'
import { shownDiff } from '../diffs/show-change.ts'
import { type LineRange, type ShownLines, showLines } from '../workspace/show-file.ts'
import { type ChangeChoices, noChoices, readChoices } from '../worktrees/change-choices.ts'
import { type ChangeSet, type SetChange, unpackSet } from '../worktrees/change-set.ts'

/** The changes of several files, one after the other, without those that an operator has left out. */
function readSet(set: ChangeSet, { leave, discard, edit }: ChangeChoices): ProposedDiff {
  const edits = new Map(Object.entries(edit))
  const out = new Set([...leave, ...discard])
  const changes = set.changes.filter(({ path }) => !out.has(path))
  const editOf = ({ path, after }: SetChange): string => {
    const text = edits.get(path)
    return text === undefined
      ? ''
      : shownDiff({ path, diff: differenceBetween(path, after, new TextEncoder().encode(text)) }).text
  }
  const shownOf = (change: SetChange) => shownDiff(change).text
  const found = (path: string): SetChange => {
    const change = changes.find((one) => one.path === path)
    if (change !== undefined) return change
    throw new ServerError('file_not_found', `These changes have no file ${JSON.stringify(visibleText(path))}.`)
  }
  const textOf = (path: string): string | null => {
    const { after } = found(path)
    return edits.get(path) ?? (after === null ? null : decodeFile(after, path).text)
  }
  const edited = changes.map(editOf).filter((text) => text !== '')
  return {
    diff: changes.map(({ diff }) => diff).join(''),
    shown: changes.map(shownOf).join('\n'),
    files: changes.map((change) => ({ path: change.path, shown: shownOf(change) })),
    edit: edited.length === 0 ? null : edited.join('\n'),
    content: () => null,
    lines({ path = '', ...range }) {
      const text = textOf(path)
      if (text !== null) return showLines(path, text, range)
      throw new ServerError('file_not_found', DELETED)
    },
    file(path) {
      const change = found(path)
      const own = editOf(change)
      return {
        diff: change.diff,
        shown: shownOf(change),
        edit: own === '' ? null : own,
        content: () => textOf(path),
      }
    },
  }
}

const DELETED = 'The change deletes the file. The diff has all of its lines.'

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
  /** The same of one file, where it is about several. Throws `file_not_found`. Left out: it is about one. */
  file?(path: string): Pick<ProposedDiff, 'diff' | 'shown' | 'edit' | 'content'>
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
    const isSet = asked?.changes !== undefined
    const proposal = asked === undefined || (editedArguments !== null && !isSet) ? null : await supervised.proposal(id)
    if (proposal === null) return null
    if (isSet) {
      const choices = editedArguments === null ? noChoices : readChoices(JSON.parse(editedArguments))
      return readSet(unpackSet(proposal, asked.contentKey), choices)
    }
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
        throw new ServerError('file_not_found', DELETED)
      },
    }
  }
