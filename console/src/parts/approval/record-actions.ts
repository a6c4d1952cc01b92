// How the actions of a record are laid out: the view has the words, the page has the places, the keys and the dialogs.

import type { RecordView } from 'quarterdeck/client'

export type RecordAction = RecordView['actions'][number]

/** The most usual one comes last: it stands at the end of the bar. */
export const inBar = (actions: readonly RecordAction[]): RecordAction[] => [...actions].reverse()

/** The key that opens its dialog. */
export function keyOf({ main, danger, takes }: RecordAction): string | undefined {
  if (main) return 'a'
  if (danger) return 'r'
  return takes === 'text' || takes === 'edit' ? 'e' : undefined
}

/** A small step is done at once when it is pressed. It has no key: a single key never decides. */
export const asksFirst = ({ main, danger, takes }: RecordAction): boolean => main || danger || takes !== 'nothing'

/** `Reason` for `a reason`. */
export function fieldLabel({ text }: RecordAction): string {
  const words = text.replace(/^an? /, '')
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}
