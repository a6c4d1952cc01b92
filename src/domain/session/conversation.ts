// The digest of a conversation: who said what, in order. A client that names no session sends the whole conversation each time; its
// digest leads to the session that the conversation belongs to.

import { createHash } from 'node:crypto'

/** What one of them said. An answer in several messages, or in several parts, is one turn. */
export interface ConversationTurn {
  role: 'user' | 'assistant' | 'tool'
  text: string
  /** Ids of the calls that an assistant makes, or that a tool answers; digests of the files of a user. */
  marks: readonly string[]
}

/** Of a conversation in which nothing was said yet. `user`: the one that the client names, if it does. */
export const newConversation = (agent: string, user: string | null): string => digestOf([agent, user])

/** Clients trim texts and join parts in their own ways, so white space does not count. Neither does the order of marks. */
export const afterTurn = (before: string, { role, text, marks }: ConversationTurn): string =>
  digestOf([before, role, text.replace(/\s+/gu, ''), [...marks].sort()])

/** No client can send it as an `Idempotency-Key`, which has no line breaks: both are keys of runs. */
export const conversationKey = (digest: string): string => `\n${digest}`

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
