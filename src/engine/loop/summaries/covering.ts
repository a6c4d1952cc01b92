// Which messages of a conversation a new summary covers, and which stay as they are.

import { type StoredMessage, textOf } from '../../../domain/session/message.ts'
import { estimateTokens } from '../context-window.ts'

export interface Covering {
  /** What the summary is about, in order. */
  covered: readonly StoredMessage[]
  /** Id of the last of them. */
  upTo: string
  /** The question that the messages after it answer, if they do not begin with one. */
  question: string | null
}

/** After a summary, the rest is this part of what fits at most. So the next one is far away, and the beginning of the requests stays the same. */
const LEFT_WHOLE = { tokens: 0.3, messages: 0.6 }

/** A summary of less than this part would be made again too soon. */
const LEAST = 0.2

export interface Room {
  /** Tokens, as they are estimated. */
  tokens: number
  messages: number
}

/**
 * All but the newest messages, as far as they are a third of what fits. What stays begins with a question if one is among it, and otherwise with a step of
 * the newest exchange; a call stays with its results, and the last step stays whatever its size. `question`: the one that the messages answer if they begin with none.
 * Null: too little is left to cover.
 */
export function chooseCovering(
  messages: readonly StoredMessage[],
  room: Room,
  question: string | null = null,
): Covering | null {
  let [tokens, count] = [room.tokens * LEFT_WHOLE.tokens, room.messages * LEFT_WHOLE.messages]
  let begin: number | null = null
  for (let i = messages.length - 1; i > 0; i -= 1) {
    const message = messages[i] as StoredMessage
    tokens -= storedTokens(message)
    count -= 1
    if ((tokens < 0 || count < 0) && begin !== null) break
    if (message.role === 'user') begin = i
    // The step begins with its thought.
    else if (message.role === 'assistant' && !isQuestionIn(messages, begin)) {
      begin = messages[i - 1]?.role === 'reasoning' ? i - 1 : i
    }
  }
  const covered = messages.slice(0, begin ?? 0)
  const last = covered.at(-1)
  const size = covered.reduce((sum, message) => sum + storedTokens(message), 0)
  if (last === undefined || (size < room.tokens * LEAST && covered.length < room.messages * LEAST)) return null
  const asked = covered.findLast(({ role }) => role === 'user')
  return { covered, upTo: last.id, question: isQuestionIn(messages, begin) ? null : (asked?.id ?? question) }
}

const isQuestionIn = (messages: readonly StoredMessage[], at: number | null): boolean =>
  at !== null && messages[at]?.role === 'user'

/** The same estimate as of a request, without files. */
export function storedTokens({ content, toolCalls = [] }: StoredMessage): number {
  const calls = toolCalls.reduce(
    (sum, { function: { name, arguments: args } }) => sum + name.length + args.length + 16,
    0,
  )
  return estimateTokens(textOf(content).length + 16 + calls)
}
