// A reply in a session's thread as the answer that it is: a word that we know, perhaps an id, perhaps a text.

import { type ActionName, actionNames } from '../../../domain/records/record-kinds.ts'
import { WORDS_WITH_TEXT } from '../cards/card-actions.ts'

export interface ParsedReply {
  /** `cancel`: no text is to be expected of this person any more. */
  action: ActionName | 'cancel'
  /** An id, or a part of it that says which; null: the person named none. */
  id: string | null
  /** Empty: the person wrote none. */
  text: string
}

/** What people say in place of the word. */
const OTHER_WORDS: readonly [string, ActionName][] = [
  ['accept', 'approve'],
  ['yes', 'approve'],
  ['ok', 'approve'],
  ['no', 'reject'],
]

const WORDS: ReadonlyMap<string, ParsedReply['action']> = new Map<string, ParsedReply['action']>([
  ...actionNames.filter((name) => name !== 'edit').map((name) => [name, name] as const),
  ...OTHER_WORDS,
  ['cancel', 'cancel'],
])

const REPLY = /^(\p{L}+)([.,:;!]*)(?:\s+(.*))?$/su
const ID = /^[0-9a-f][0-9a-f-]{3,35}$/i

/**
 * Null: it is not an answer, such as `yes but only the first part`. `isId` says whether this means a record here, so that
 * `reject dead code` is a reason.
 */
export function parseReply(text: string, isId: (start: string) => boolean): ParsedReply | null {
  const [, typed = '', , rest = ''] = REPLY.exec(text.trim()) ?? []
  const action = WORDS.get(typed.toLowerCase())
  if (action === undefined) return null
  const [first = ''] = rest.split(/\s/, 1)
  const start = first.replace(/[.,:;!]+$/, '')
  const takesText = WORDS_WITH_TEXT.some((name) => name === action)
  // A word that takes no text can only be followed by an id, also by one that nothing has.
  const id = ID.test(start) && (isId(start) || (!takesText && /\d/.test(start))) ? start : null
  const left = (id === null ? rest : rest.slice(first.length)).trim()
  return left === '' || takesText ? { action, id, text: left } : null
}
