// Reads the newest part of a conversation, no more of it than a request can have.

import { type StoredMessage, textOf } from '../../domain/session/message.ts'
import type { SendingAgent } from './build-request.ts'

/** How many messages are read first. More are read only if these may be too few. */
const FIRST_READ = 100
/** A token is estimated as four characters, and the estimate is corrected by a factor of four at most. */
const MOST_CHARACTERS_A_TOKEN = 16

/**
 * The newest messages, back to a user's message at least, because a request begins with one. `covered` finds the id of the last message
 * that a summary covers: nothing before it has to be read. `isWhole`: there are no older ones.
 */
export async function readForModel(
  { context, model }: SendingAgent,
  read: (limit: number, known: readonly StoredMessage[]) => Promise<StoredMessage[]>,
  covered: () => Promise<string | undefined> = async () => undefined,
): Promise<{ history: StoredMessage[]; isWhole: boolean }> {
  // Twice as many as are shown, because thoughts and broken-off answers are stored but not shown.
  const most = context.maxMessages * 2
  let history: StoredMessage[] = []
  for (let limit = Math.min(FIRST_READ, most); ; limit *= 4) {
    history = await read(limit, history)
    if (history.length < limit) return { history, isWhole: true }
    const hasQuestion = history.some(({ role }) => role === 'user')
    const isFull = limit >= most || charactersOf(history) > model.contextWindow * MOST_CHARACTERS_A_TOKEN
    const upTo = await covered()
    const isCovered = upTo !== undefined && history.some(({ id }) => id === upTo)
    if (hasQuestion && (isFull || isCovered)) return { history, isWhole: false }
  }
}

const charactersOf = (messages: readonly StoredMessage[]): number =>
  messages.reduce((sum, { content }) => sum + textOf(content).length, 0)
