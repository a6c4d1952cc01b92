import type { AnyRecord } from '../domain/records/record.ts'
import type { AuditReads } from './ports/audit.ts'
import type { FeedReads } from './ports/feed.ts'
import type { FileReads } from './ports/files.ts'
import type { Journal } from './ports/journal.ts'
import type { MessageReads } from './ports/messages.ts'
import type { OutboxReads } from './ports/outbox.ts'
import type { RunReads } from './ports/runs.ts'
import type { SearchReads } from './ports/search.ts'
import type { SessionReads } from './ports/sessions.ts'
import type { SupervisedReads } from './ports/supervised.ts'
import type { UsageReads } from './ports/usage.ts'
import type { GrantReads, WaitReads } from './ports/waits.ts'

/**
 * Durable memory of sessions. Every implementation passes `store.contract.ts`.
 *
 * All writes go through `commit`. Each kind of data has its own port for reads. Ask only for the ports that you need:
 * `Pick<Store, 'runs' | 'waits'>`, or one of them.
 */
export interface Store extends Journal {
  sessions: SessionReads
  messages: MessageReads
  runs: RunReads
  waits: WaitReads
  grants: GrantReads
  supervised: SupervisedReads
  files: FileReads
  audit: AuditReads
  usage: UsageReads
  feed: FeedReads
  outbox: OutboxReads
  search: SearchReads

  /** Checks that the store can read and write. Throws `storage_failed` if not. */
  check(): Promise<void>
  /** A few numbers for operators. Cheap enough to ask every few seconds. */
  figures(): Promise<StoreFigures>
  /** Frees memory while the server is idle. The next call gets back what it needs. */
  rest(): void
  close(): Promise<void>
}

export interface StoreFigures {
  /** Size of the database, and of the log of changes in front of it. */
  bytes: number
  walBytes: number
  /** What waits for a person: approvals, prompts, instructions and alerts. */
  inbox: number
  /** Runs that have not ended. Those that wait, wait for a person or a client. */
  runs: Readonly<Record<'queued' | 'running' | 'waiting', number>>
  /** What waits, by kind: how many, and epoch ms since when the oldest of them does. Kinds of which nothing waits are left out. */
  waits: Readonly<Partial<Record<AnyRecord['wait'], { count: number; oldestAt: number }>>>
  /** Until when each lease holds, in epoch ms. Some may have run out. */
  leases: readonly number[]
  /** How many items each channel still has to show. Channels with none are left out. */
  outbox: Readonly<Record<string, number>>
  /** Connections to a database server; absent: there is none. */
  connections?: StoreConnections
}

export interface StoreConnections {
  open: number
  idle: number
  /** Requests that wait for a connection. */
  waiting: number
  /** Most that there may be. */
  most: number
  /** How often the server was lost and found again. */
  reconnects: number
}

/** Everything that can be read from a store. */
export type StoreReads = Omit<Store, 'commit' | 'check' | 'figures' | 'rest' | 'close'>

/** A store that another process writes to. */
export interface ReadOnlyStore {
  /**
   * All reads of one call see the store at the same moment. One call at a time. Keep it short, because the database's log only
   * grows until it ends.
   */
  read<T>(work: (reads: StoreReads) => Promise<T>): Promise<T>
  close(): void
}

/** The same reads, each called through `call`, which may translate errors, count or delay. */
export function wrapReads(reads: object, call: (read: () => unknown) => Promise<unknown>): StoreReads {
  const wrap = (port: object): object =>
    Object.fromEntries(
      Object.entries(port).map(([name, member]) => [
        name,
        typeof member === 'function' ? (...args: unknown[]) => call(() => member(...args)) : wrap(member),
      ]),
    )
  return wrap(reads) as StoreReads
}
