// A reply in a session's thread as the answer that it is: a word that we know, perhaps an id, perhaps a text.

import type { CardAction } from '../cards/card.ts'

export interface ParsedReply {
  /** `cancel`: no text is to be expected of this person any more. */
  action: Exclude<CardAction, `choose:${number}`> | 'cancel'
  /** An id, or a part of it that says which; null: the person named none. */
  id: string | null
  /** Empty: the person wrote none. */
  text: string
}

type Word = Pick<ParsedReply, 'action'> & {
  /** What it means if a text follows. Left out: it takes none. */
  withText?: ParsedReply['action']
}

const accept: Word = { action: 'accept' }
const reject: Word = { action: 'reject', withText: 'reject' }
const WORDS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ['accept', accept],
  ['approve', accept],
  ['yes', accept],
  ['ok', accept],
  ['reject', reject],
  ['no', reject],
  ['continue', { action: 'continue' }],
  ['refine', { action: 'refine', withText: 'refine' }],
  ['stop', { action: 'stop' }],
  ['nudge', { action: 'nudge', withText: 'nudge_with_text' }],
  ['dismiss', { action: 'dismiss' }],
  ['resume', { action: 'resume', withText: 'resume_with_text' }],
  ['answer', { action: 'answer', withText: 'answer' }],
  ['cancel', { action: 'cancel' }],
])

const REPLY = /^(\p{L}+)([.,:;!]*)(?:\s+(.*))?$/su
const ID = /^[0-9a-f][0-9a-f-]{3,35}$/i

/**
 * Null: it is no answer, such as `yes but only the first part`. `isId` says whether this means a record here, so that
 * `reject dead code` is a reason.
 */
export function parseReply(text: string, isId: (start: string) => boolean): ParsedReply | null {
  const [, typed = '', , rest = ''] = REPLY.exec(text.trim()) ?? []
  const word = WORDS.get(typed.toLowerCase())
  if (word === undefined) return null
  const [first = ''] = rest.split(/\s/, 1)
  const start = first.replace(/[.,:;!]+$/, '')
  const takesNone = word.withText === undefined
  // A word that takes no text can only be followed by an id, also by one that nothing has.
  const id = ID.test(start) && (isId(start) || (takesNone && /\d/.test(start))) ? start : null
  const left = (id === null ? rest : rest.slice(first.length)).trim()
  if (left === '') return { action: word.action, id, text: '' }
  return word.withText === undefined ? null : { action: word.withText, id, text: left }
}
