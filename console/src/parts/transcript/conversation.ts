import { createContext } from 'react'
import type { UserItem } from '../../data/transcript.ts'
import type { Source } from './citations.ts'

/** What can be done with the items of a conversation. Null: not here, or not now. */
export interface Conversation {
  /** Answers the last message anew. */
  again: (() => void) | null
  edit: ((item: UserItem) => void) | null
  /** Where the branch parts from others: by the key of its item, the items that stand in the same place. */
  versions: ReadonlyMap<string, readonly string[]>
  turnTo: (key: string) => void
  /** Whose messages can be linked to and answers judged. */
  sessionId: string | null
}

export const ConversationContext = createContext<Conversation>({
  again: null,
  edit: null,
  versions: new Map(),
  turnTo: () => {},
  sessionId: null,
})

/** Puts words into the field for the next message. Nothing is sent. Null: there is no such field. */
export const SuggestContext = createContext<((text: string) => void) | null>(null)

/** Whose documents the answers cite. Null: not known yet. */
export const AgentContext = createContext<string | null>(null)

/** Opens what an answer cites. The answer itself may scroll out of the page meanwhile. */
export const OpenSourceContext = createContext<(source: Source) => void>(() => {})
