// What a reply is about. It is never guessed: where it is not clear, the person is asked.

import { actionNamesOf, type PersonRecord } from '../../../domain/records/record.ts'
import { type ActionName, actionNames } from '../../../domain/records/record-kinds.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { matchingIds, shortIds } from '../../../domain/text/id-prefix.ts'
import { WORDS_WITH_TEXT } from '../cards/card-actions.ts'
import { type AnswerContext, tell } from './answer-context.ts'
import { listOf, says } from './answer-texts.ts'
import type { Participant } from './kept-notes.ts'

/** Somebody who may answer, what they wrote, and what it can be about. */
export interface Heard {
  by: Caller
  participant: Participant
  /** What had a card in this thread when they wrote, newest first. */
  shown: readonly PersonRecord[]
  waiting: readonly PersonRecord[]
}

/** What the reply names; null: it is not clear, and the person was told. */
export async function meantBy(
  context: AnswerContext,
  heard: Heard,
  { action, id }: ParsedReply & { action: ActionName },
): Promise<PersonRecord | null> {
  const { participant, shown, waiting } = heard
  if (id !== null) {
    const found = matchingIds(shown, id, (one) => one.id)
    const [only, ...others] = found
    if (only !== undefined && others.length === 0) return only
    const why = others.length > 0 ? 'Several are meant by that.' : 'Nothing here has an id like that.'
    if (only === undefined && waiting.length === 0) await tell(context, participant, says(why))
    else await letChoose(context, heard, only === undefined ? waiting : found, why)
    return null
  }
  const [only, ...others] = waiting.filter((one) => actionNamesOf(one).includes(action))
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined) {
    await letChoose(
      context,
      heard,
      [only, ...others],
      `Several things wait here. Write the four characters of one behind your answer.`,
    )
    return null
  }
  if (waiting.length > 0) {
    await letChoose(context, heard, waiting, 'That answers nothing that waits here.')
    return null
  }
  // Somebody was faster, or the time is over. The newest is what the person means to answer.
  const over = shown.find((one) => actionNamesOf(one).includes(action))
  if (over === undefined) await tell(context, participant, says('Nothing waits for an answer here.'))
  return over ?? null
}

/** Lists what it could be about. Nothing was decided. */
export async function letChoose(
  context: AnswerContext,
  { participant }: Heard,
  from: readonly PersonRecord[],
  why: string,
): Promise<void> {
  const short = shortIds(from.map(({ id }) => id))
  const message = listOf(from, (id) => short.get(id) ?? id, `${why} Nothing was decided.`)
  await tell(context, participant, message)
}

// A reply in a session's thread as the answer that it is: a word that we know, perhaps an id, perhaps a text.

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
