// How the actions of a record are laid out: the view has the words, the page has the places, the keys and the dialogs.

import type { RecordView } from 'quarterdeck/client'
import { sentence } from '../../words.ts'

export type RecordAction = RecordView['actions'][number]

/** The most usual one comes last: it stands at the end of the bar. */
export const inBar = <T>(actions: readonly T[]): T[] => [...actions].reverse()

/** The key that presses it. */
export function keyOf({ main, danger, takes }: RecordAction): 'a' | 'r' | 'e' | 'd' {
  if (main) return 'a'
  if (danger) return 'r'
  return takes === 'text' || takes === 'edit' ? 'e' : 'd'
}

/** `Approved: npm test`. */
export const doneText = ({ done }: RecordAction, { title }: Pick<RecordView, 'title'>): string =>
  `${done.replace(/\.$/, '')}: ${title}`

/** `Reason` for `a reason`. */
export const fieldLabel = ({ text }: RecordAction): string => sentence(text.replace(/^an? /, ''))
