import type { AuditReads } from './ports/audit.ts'
import type { FeedReads } from './ports/feed.ts'
import type { FileReads } from './ports/files.ts'
import type { Journal } from './ports/journal.ts'
import type { MessageReads } from './ports/messages.ts'
import type { RunReads } from './ports/runs.ts'
import type { SessionReads } from './ports/sessions.ts'
import type { GrantReads, WaitReads } from './ports/waits.ts'

/**
 * Durable memory of sessions. Every implementation passes `store.contract.ts`.
 *
 * Everything is written through `commit`, and read through the port of its kind. Ask for the ports that you need:
 * `Pick<Store, 'runs' | 'waits'>`, or one of them.
 */
export interface Store extends Journal {
  sessions: SessionReads
  messages: MessageReads
  runs: RunReads
  waits: WaitReads
  grants: GrantReads
  files: FileReads
  audit: AuditReads
  feed: FeedReads

  /** Proves that the store can read and write; throws `storage_failed` otherwise. */
  check(): Promise<void>
  /** The server is idle: frees what is held for speed alone. The next call brings it back. */
  rest(): void
  close(): Promise<void>
}
