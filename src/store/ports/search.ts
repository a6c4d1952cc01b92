import type { MessageRole } from '../../domain/session/message.ts'
import type { Excerpt, SearchTerm } from '../../domain/session/search-words.ts'
import type { SessionRecord } from '../../domain/session/session.ts'

/** Full-text search over messages, and over the titles and prompts of agents elsewhere (`domain/session/search-words.ts` says what is a word). */
export interface SearchReads {
  /**
   * Sessions with a text that has all terms: first those whose title or prompt has them, then by their newest message that has them.
   * Superseded messages and unlisted sessions are left out. A search takes a bounded time: a page may have fewer sessions than asked
   * for, even none, and still a next one.
   */
  find(query: SearchQuery): Promise<SearchPage>
}

export interface SearchQuery {
  terms: readonly SearchTerm[]
  /** Absent: sessions of all owners. */
  owner?: string | undefined
  agent?: string | undefined
  /** Only texts from this time on, and up to that time. Epoch ms. */
  since?: number | undefined
  until?: number | undefined
  limit: number
  /** `next` of the page before. Anything else finds nothing. */
  before?: string | undefined
}

export interface SearchPage {
  /** Sessions come without their state. */
  found: { session: SessionRecord; hits: SearchHit[] }[]
  /** Null: this was the last page. */
  next: string | null
  /** False: the store has texts that it has not looked through yet, so there may be more. */
  isComplete: boolean
}

export interface SearchHit extends Excerpt {
  /** Null: the title or the prompt of the session. */
  messageId: string | null
  role: MessageRole | null
  at: number
}

/** The most messages that are shown of a session, newest first. */
export const HITS_OF_A_SESSION = 3
