// What a person does with each file of a change: it is written, kept for later, thrown away, or written as the person wants it. All of
// it is kept in the draft.

import type { ApproveOptions, RecordView } from 'quarterdeck/client'
import { counted } from '../../../words.ts'
import type { Draft } from '../use-draft.ts'

export type ChangedFile = NonNullable<RecordView['changes']>['files'][number]
export type Choice = 'write' | 'leave' | 'discard'

const choiceName = (path: string): string => `choice.${path}`
/** An edit of another version fits nowhere. */
const editName = (digest: string, path: string): string => `edit.${digest}.${path}`

export function choicesIn({ texts, set }: Pick<Draft, 'texts' | 'set'>, digest: string) {
  return {
    of: (path: string): Choice => {
      const { [choiceName(path)]: kept } = texts
      return kept === 'leave' || kept === 'discard' ? kept : 'write'
    },
    choose: (path: string, choice: Choice) => set(choiceName(path), choice === 'write' ? null : choice),
    /** What differs from the agent's text, as the draft keeps it. */
    edit: (path: string): string | undefined => texts[editName(digest, path)],
    setEdit: (path: string, change: string | null) => set(editName(digest, path), change),
  }
}

export type Choices = ReturnType<typeof choicesIn>

/** The files that a yes would write. */
export const writtenOf = (files: readonly ChangedFile[], { of }: Pick<Choices, 'of'>): ChangedFile[] =>
  files.filter(({ path }) => of(path) === 'write')

/** What goes with the yes. `texts`: whole new texts by path. Nothing if everything is written as it is. */
export function argumentsOf(
  files: readonly ChangedFile[],
  { of }: Pick<Choices, 'of'>,
  texts: ReadonlyMap<string, string>,
): Pick<ApproveOptions, 'arguments'> {
  const pathsOf = (choice: Choice) => files.map(({ path }) => path).filter((path) => of(path) === choice)
  const [leave, discard] = [pathsOf('leave'), pathsOf('discard')]
  const edit = Object.fromEntries([...texts].filter(([path]) => of(path) === 'write'))
  const isAsAsked = leave.length + discard.length + Object.keys(edit).length === 0
  return isAsAsked ? {} : { arguments: { leave, discard, edit } }
}

/** `Writes 3 files, keeps 1 for later, throws 1 away.` */
export function summaryOf(files: readonly ChangedFile[], { of }: Pick<Choices, 'of'>): string {
  const count = (choice: Choice) => files.filter(({ path }) => of(path) === choice).length
  const [write, leave, discard] = [count('write'), count('leave'), count('discard')]
  const parts = [
    write === 0 ? 'Writes nothing' : `Writes ${counted(write, 'file')}`,
    ...(leave === 0 ? [] : [`keeps ${leave} for later`]),
    ...(discard === 0 ? [] : [`throws ${discard} away`]),
  ]
  return `${parts.join(', ')}.`
}

interface ReviewFacts {
  files: readonly ChangedFile[]
  choices: Pick<Choices, 'of'>
  isLow: boolean
  /** Paths whose change has been on the screen to its end. */
  looked: ReadonlySet<string>
  /** Paths with an edit that the server does not accept, or has not looked at yet. */
  unready: readonly string[]
}

/** Why there is no yes yet. Null: there may be one. */
export function reviewLock({ files, choices, isLow, looked, unready }: ReviewFacts): string | null {
  const written = writtenOf(files, choices)
  const discards = files.some(({ path }) => choices.of(path) === 'discard')
  if (written.length === 0 && !discards) return 'Nothing would be written. Choose a file, or reject.'
  const [first] = unready.filter((path) => choices.of(path) === 'write')
  if (first !== undefined) return `The edit of ${first} cannot be written yet.`
  const left = isLow ? 0 : written.filter(({ path }) => !looked.has(path)).length
  return left === 0 ? null : `Open what is written and scroll to its end: ${counted(left, 'file')} to go.`
}
