// All that a hosted agent has changed, file by file: what would happen to each, and what has.

import type { Approval, FileOfSet } from '../../../domain/records/record.ts'
import { shownPath } from '../../../domain/text/lookalike.ts'
import { visibleText } from '../../../domain/text/visible-text.ts'
import { type ChangeChoices, noChoices, readChoices } from '../../worktrees/change-choices.ts'
import type { BodyPart, ChangesView, RecordFact } from '../record-view.ts'
import { fact, oneLine, prose } from '../record-words.ts'

export type Fate = NonNullable<ChangesView['files'][number]['fate']>

/** What a person chose with their yes. */
export const choicesOf = ({ editedArguments }: Pick<Approval, 'editedArguments'>): ChangeChoices =>
  editedArguments === null ? noChoices : readChoices(JSON.parse(editedArguments))

/** A list has no space for hundreds of files. */
export const MOST_IN_LIST = 20

/** Undefined: it is about no set of files. */
export function changesView(approval: Approval, most: number): { changes?: ChangesView } {
  const { changes, left = [] } = approval.supervised ?? {}
  if (changes === undefined) return {}
  return {
    changes: {
      total: changes.length,
      added_lines: changes.reduce((sum, one) => sum + one.addedLines, 0),
      removed_lines: changes.reduce((sum, one) => sum + one.removedLines, 0),
      files: changes.slice(0, most).map((one) => ({
        path: one.path,
        kind: one.kind,
        added_lines: one.addedLines,
        removed_lines: one.removedLines,
        risk: one.risk,
        binary: one.isBinary,
        warnings: warningsOf(one),
        fate: fateOf(approval, one.path),
      })),
      left: left.slice(0, most).map(({ path, why }) => ({ path: shownPath(path), why: visibleText(why) })),
    },
  }
}

/** The first files, and what nobody can approve: one line each. */
export function filesText({ description, supervised }: Approval): string {
  const lines = description.split('\n')
  const total = supervised?.changes?.length ?? 0
  const [files, left] = [lines.slice(0, total), lines.slice(total)]
  const rest = (all: string[]) => (all.length > MOST_IN_LIST ? [`… and ${all.length - MOST_IN_LIST} more`] : [])
  return [...files.slice(0, MOST_IN_LIST), ...rest(files), ...left.slice(0, MOST_IN_LIST), ...rest(left)].join('\n')
}

const warningsOf = ({ protectedBecause, hasHiddenText, warnings }: FileOfSet): string[] => [
  ...(protectedBecause === null ? [] : [protectedBecause]),
  ...(hasHiddenText ? ['It hides characters. They are written as marks, such as <U+202E>.'] : []),
  ...warnings,
]

/** What has become of a file. Null: nothing yet. */
function fateOf(approval: Approval, path: string): Fate | null {
  const { status, supervised } = approval
  if (status !== 'approved' && status !== 'consumed') return null
  const { leave, discard } = choicesOf(approval)
  if (discard.includes(path)) return 'discarded'
  if (leave.includes(path)) return 'left'
  if (supervised?.notApplied !== undefined)
    return supervised.conflicts?.includes(path) === false ? 'written' : 'not_written'
  return typeof supervised?.appliedAt === 'number' ? 'written' : null
}

const FATES: Readonly<Record<Fate, string>> = {
  written: 'Written',
  not_written: 'Not written',
  left: 'Kept for later',
  discarded: 'Thrown away',
}

const MOST_NAMES = 10

/** Once it is decided: `Written: src/a.ts, src/b.ts`. */
export function fateFacts(approval: Approval): RecordFact[] {
  const { changes = [], appliedAt = null } = approval.supervised ?? {}
  const byFate = Map.groupBy(changes, ({ path }) => fateOf(approval, path))
  return Object.entries(FATES).flatMap(([fate, name]) => {
    const files = byFate.get(fate as Fate) ?? []
    if (files.length === 0) return []
    const names = files.slice(0, MOST_NAMES).map(({ path }) => shownPath(path))
    const more = files.length > MOST_NAMES ? ` and ${files.length - MOST_NAMES} more` : ''
    return [fact(name, `${names.join(', ')}${more}`, fate === 'written' ? { at: appliedAt } : {})]
  })
}

/** Texts of an operator: how many files they wrote themselves. */
export function editedWords(approval: Approval): string[] {
  const edited = Object.keys(choicesOf(approval).edit).map(shownPath)
  return edited.length === 0 ? [] : [oneLine(`As an operator edited it: ${edited.join(', ')}.`)]
}

/** As much as one change of one file may have. */
const MOST_DIFF = 5_000_000

/** The diff of each file, one after the other. What is too much for one page is read file by file. */
export function diffParts(files: readonly { path: string; shown: string }[]): BodyPart[] {
  let room = MOST_DIFF
  const shown = files.filter((one) => {
    room -= one.shown.length
    return room >= 0
  })
  const rest = files.length - shown.length
  return [
    ...shown.map(
      ({ path, shown: text }): BodyPart => ({ type: 'diff', title: `What changes in ${shownPath(path)}`, text, path }),
    ),
    ...prose(
      'Not shown here',
      'server',
      rest === 0 ? '' : `${rest} more files are too large. Open them in the console.`,
    ),
  ]
}
