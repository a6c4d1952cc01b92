// What a reply is about. It is never guessed: where it is not clear, the person is asked.

import type { PersonRecord } from '../../../domain/records/record.ts'
import type { ActionName } from '../../../domain/records/record-kinds.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import { matchingIds, shortIds } from '../../../domain/text/id-prefix.ts'
import { actionNamesOf } from '../../../supervision/../domain/records/record.ts'
import { type AnswerContext, tell } from './answer-context.ts'
import { listOf, says } from './answer-texts.ts'
import type { Seat } from './kept-notes.ts'
import type { ParsedReply } from './parse-reply.ts'

/** Somebody who may answer, what they wrote, and what it can be about. */
export interface Heard {
  by: Caller
  seat: Seat
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
  const { seat, shown, waiting } = heard
  if (id !== null) {
    const found = matchingIds(shown, id, (one) => one.id)
    const [only, ...others] = found
    if (only !== undefined && others.length === 0) return only
    const why = others.length > 0 ? 'Several are meant by that.' : 'Nothing here has an id like that.'
    if (only === undefined && waiting.length === 0) await tell(context, seat, says(why))
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
  if (over === undefined) await tell(context, seat, says('Nothing waits for an answer here.'))
  return over ?? null
}

/** Lists what it could be about. Nothing was decided. */
export async function letChoose(
  context: AnswerContext,
  { seat }: Heard,
  from: readonly PersonRecord[],
  why: string,
): Promise<void> {
  const short = shortIds(from.map(({ id }) => id))
  const message = listOf(from, (id) => short.get(id) ?? id, `${why} Nothing was decided.`)
  await tell(context, seat, message)
}
