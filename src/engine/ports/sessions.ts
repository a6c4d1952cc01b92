import type { SessionRecord } from '../../domain/session/session.ts'
import type { Journal, StoredEntry } from '../../store/ports/journal.ts'
import type { SearchHit, SearchReads } from '../../store/ports/search.ts'
import type { FeedbackChange, SessionQuery, SessionReads } from '../../store/ports/sessions.ts'
import type { ReadLog } from '../sessions/read-log.ts'
import type { ReadStep } from '../sessions/read-step.ts'

export type { SearchHit, StoredEntry }

/** Sessions as their owners see them. Somebody else's session is treated as one that does not exist. */
export interface Sessions {
  /** The owner's session, by id in either spelling or by alias; null when there is none. */
  find(owner: string, reference: string): Promise<SessionRecord | null>
  /** Like `find`, but throws `session_not_found`, or `malformed_id` when the reference cannot be an id. */
  get(owner: string, reference: string): Promise<SessionRecord>
  /**
   * Like `find`, for a request that creates the session if there is none. Throws `session_not_found` when the reference is the id of
   * somebody else's session; any other name is free to use.
   */
  findForStart(owner: string, reference: string): Promise<SessionRecord | null>
  /** The owner's session in which this conversation (its digest) was said, and nothing since; the last one, if there are several. */
  ofConversation(owner: string, digest: string): Promise<SessionRecord | null>
  /** In the order that is asked for, newest activity first without one. Listing does not count as activity. Throws `session_not_found` when `before` names no session of the owner. */
  list(query: SessionPage): Promise<SessionRecord[]>
  /**
   * Like `get`, but throws `session_expired` when the session has been idle for too long and its agent closes such sessions
   * (`on_expiry: close`). A busy session never expires.
   */
  getOpen(owner: string, reference: string): Promise<SessionRecord>
  /** What a person names it. Null: it has its automatic title again. Kept in the log. */
  rename(session: SessionRecord, title: string | null, by: string): Promise<void>
  /** What a person thinks of an answer in it, null to take it back. Kept in the log. Throws `message_not_found`. */
  rate(session: SessionRecord, feedback: Omit<FeedbackChange, 'at'>): Promise<void>
  /** Cancels the open runs, then deletes everything. May be called again. Throws `conflict` while an agent elsewhere works in it. */
  remove(session: SessionRecord): Promise<void>
  /** The log as it is stored; see the store's port. */
  entries: Journal['entries']
  /** Pages of the log's events, as far as they are on disk. */
  readLog: ReadLog
  /** How many sessions a list has in all; see the store's port. */
  countFound(query: SessionFilters & Pick<SessionPage, 'owner' | 'label'>): Promise<number>
  /** What a step has sent to its model. */
  readStep: ReadStep
  /** What lists show of sessions beyond their records; see the store's port. */
  overview: SessionReads['overview']
  /** Full-text search; see the store's port. Whose sessions the caller may see is for the caller to say. */
  search: SearchReads['find']
}

export type SessionFilters = Pick<SessionQuery, 'agent' | 'kind' | 'activity' | 'feedback' | 'since' | 'until'>

export interface SessionPage extends SessionFilters, Pick<SessionQuery, 'label' | 'unlisted' | 'order' | 'limit'> {
  /** Null: sessions of all owners. */
  owner: string | null
  /** A place in the list, or the id or alias of the session at that place. */
  before?: string | SessionQuery['before']
}
