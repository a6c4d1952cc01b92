// The port between the rules and a store. A rule asks for rows, decides, and returns its changes as data. It never writes, so a
// refused command leaves no trace.
//
// Rules are generators, so the same code runs on a store that answers at once (SQLite, inside a synchronous transaction) and
// on a store that waits for each answer.

import type { AnyRecord, Approval, SupervisedRecord } from '../../domain/records/record.ts'
import type { NewFeedItem } from '../../domain/session/feed.ts'
import type { FileRecord } from '../../domain/session/file.ts'
import type { Feedback, MessageMark, MessageRole, StoredMessage } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AuditEntry, AuditRecord } from '../../domain/supervision/audit.ts'
import type { ChannelNote, QueuedDelivery } from '../../domain/supervision/delivery.ts'
import type { Grant } from '../../domain/supervision/grant.ts'
import type { Checkpoint, Instruction, PolicyPin, Proposal } from '../../domain/supervision/supervision.ts'
import type { Command, Done } from '../ports/command.ts'
import type { NewEntry, StoredEntry } from '../ports/journal.ts'
import type { PurgeSessions } from '../ports/sessions.ts'
import type { UsageKey, UsageRow } from '../ports/usage.ts'

/**
 * Rows as the previous command left them. If several processes write, reading a session or one of its rows must lock the session
 * until the transaction ends.
 */
export interface RowReads {
  session(id: string): SessionRecord | null
  sessionByAlias(owner: string, alias: string): SessionRecord | null
  /** How many sessions are not terminated. */
  sessionCount(): number
  /** The sessions that this command removes: sessions without an open run, longest idle first. */
  sessionsToPurge(command: PurgeSessions): PurgedSession[]

  run(id: string): RunRecord | null
  /** Whether a process executes this run of the session under this fence. Asked for every append, so a store need not read the run. */
  isExecuted(sessionId: string, runId: string, fence: number): boolean
  runByWireId(sessionId: string, wireId: string): RunRecord | null
  openRuns(sessionId: string): Pick<RunRecord, 'id' | 'status'>[]
  idempotencyKey(owner: string, key: string): IdempotencyKey | null

  /** Seq of the session's last entry, 0 if it has none. */
  head(sessionId: string): number
  /** Seq of the session's next entry, above every seq that a reader may have seen. 1 for a new session. */
  nextSeq(sessionId: string): number

  /** The messages with these ids that the session has. */
  messageMarks(sessionId: string, ids: readonly string[]): MessageMark[]
  /** Id of the last user message in the session's own conversation. */
  lastUserMessage(sessionId: string): string | null
  /** Id of the newest message of a lane. */
  newestOfLane(sessionId: string, lane: string): string | null
  /** Roles of the messages after this one in the session's own conversation. */
  rolesAfter(sessionId: string, messageId: string): MessageRole[]

  wait(id: string): AnyRecord | null
  /** In the order in which they were written. */
  pendingWaits(runId: string): AnyRecord[]
  /** Approvals that this run got and has not used, in the order in which they were written. */
  unusedApprovals(runId: string): Approval[]
  /** Records of a supervised session that still want something of a person, in the order in which they were written. */
  pendingRecords(sessionId: string): SupervisedRecord[]
  /** The supervised sessions that are open, oldest first. */
  openSupervised(): Pick<SessionRecord, 'id' | 'owner'>[]
  instruction(id: string): Instruction | null
  /** Those that wait for the same agent (steering), or in the same workspace for the same owner (task). */
  waitingInstructions(like: Pick<Instruction, 'kind' | 'sessionId' | 'owner' | 'workspaceRoot'>): Instruction[]
  hasGrant(id: string): boolean
  hasCheckpoint(id: string): boolean
  /** A note of a channel. */
  note(channel: string, key: string): ChannelNote | null
  hasUsage(key: UsageKey): boolean
  /** The last entry of a chain of the audit trail. `isOwn`: a process on this store writes it. Null: there is no such chain. */
  auditEnd(chain: string): (Pick<AuditEntry, 'n' | 'hash'> & { isOwn: boolean }) | null
  file(id: string): FileRecord | null
  /** How far the channel has looked at the feed (null: it is new), and what it still has to show, oldest first. */
  outbox(channel: string): { cursor: number | null; deliveries: QueuedDelivery[] }
}

export type PurgedSession = Pick<SessionRecord, 'id' | 'owner' | 'agent' | 'status'>

export interface IdempotencyKey {
  digest: string
  runId: string
  expiresAt: number
}

/** A write. A store applies a command's changes in order, before it decides the next command. */
export type Change =
  | { write: 'insert_session'; session: SessionRecord }
  | { write: 'update_session'; id: string; patch: SessionPatch }
  /** Writes `supervision`, `owner`, `lastActivity` and `lastTool`. */
  | { write: 'update_supervision'; before: SessionRecord; session: SessionRecord }
  /** Removes all content of the session, and leaves a tombstone. */
  | { write: 'bury_session'; session: SessionRecord; at: number }
  /** Removes the session with all its content. */
  | { write: 'remove_session'; session: PurgedSession }
  | { write: 'insert_run'; run: RunRecord }
  | { write: 'update_run'; before: RunRecord; run: RunRecord }
  | { write: 'put_key'; owner: string; key: string; value: IdempotencyKey }
  /** Without a gap, from `firstSeq` on. A power cut may take only text in flight (`inFlight`). */
  | {
      write: 'append_entries'
      sessionId: string
      /** Null: facts outside a run. */
      runId: string | null
      firstSeq: number
      entries: readonly NewEntry[]
      inFlight: boolean
    }
  /** The log of an imported session, with its own seqs. */
  | { write: 'import_entries'; sessionId: string; entries: readonly StoredEntry[] }
  /** Each new entry replaces the entries that its spans name. `isPart`: the rest of the log has still to be compacted. */
  | { write: 'compact_entries'; sessionId: string; entries: readonly StoredEntry[]; isPart: boolean }
  /** A message with a known id is ignored, except that an activity takes the content of a later one. */
  | { write: 'insert_messages'; sessionId: string; messages: readonly StoredMessage[] }
  /** Inserts it, or replaces that of the same person about the same message. */
  | { write: 'put_feedback'; sessionId: string; feedback: Feedback }
  | { write: 'remove_feedback'; sessionId: string; messageId: string; by: string }
  /** All messages after this one, also those of sub-agents. */
  | { write: 'supersede_messages'; sessionId: string; after: string; byRun: string }
  | { write: 'insert_wait'; wait: AnyRecord }
  | { write: 'update_wait'; before: AnyRecord; wait: AnyRecord }
  /** Inserts it, or replaces the one of the same approval. */
  | { write: 'put_proposal'; sessionId: string; proposal: Proposal }
  | { write: 'insert_instruction'; instruction: Instruction }
  | { write: 'update_instruction'; instruction: Instruction }
  | { write: 'insert_checkpoint'; checkpoint: Checkpoint }
  /** Replaces the pin of its workspace. */
  | { write: 'put_pin'; pin: PolicyPin }
  /** One with this id is renewed. */
  | { write: 'put_grant'; grant: Grant }
  | { write: 'remove_grant'; id: string }
  /** Removes the grants that are for this session alone. */
  | { write: 'end_session_grants'; sessionId: string }
  | { write: 'insert_file'; file: FileRecord }
  /** Files without a session belong to this one from now on. */
  | { write: 'attach_files'; ids: readonly string[]; sessionId: string }
  | { write: 'put_outbox_cursor'; channel: string; n: number }
  /** Inserts it, or replaces the one with its channel and number. */
  | { write: 'put_delivery'; delivery: QueuedDelivery }
  | { write: 'remove_delivery'; channel: string; n: number }
  /** Inserts it, or replaces the one with its channel and key. */
  | { write: 'put_note'; note: ChannelNote }
  | { write: 'remove_note'; channel: string; key: string }
  | { write: 'add_usage'; rows: readonly UsageRow[] }
  | { write: 'add_audit'; records: readonly AuditRecord[] }
  /** Entries of another store's trail, as they are. */
  | { write: 'import_audit'; entries: readonly AuditEntry[] }
  | { write: 'renew_lease'; owner: string; until: number }
  /** Ends the leases of all owners but this one. */
  | { write: 'end_other_leases'; owner: string }
  /** Each item gets the next number, in order. */
  | { write: 'add_to_feed'; items: readonly NewFeedItem[] }
  /** Removes idempotency keys and grants that expired before `now`, files that were never sent, and old items of the feed. */
  | { write: 'remove_expired'; now: number; unsentBefore: number }

export type ChangeOf<Write extends Change['write']> = Extract<Change, { write: Write }>

export interface SessionPatch {
  /** The wall clock may step back, a session's activity does not: the later of the two counts. */
  lastActivity?: number | undefined
  /** By how much the session's count of messages changes. */
  messagesAdded?: number | undefined
  /** A run begins, so there will be something to compact. */
  grows?: true | undefined
  lastRead?: number
  /** Null: none. */
  title?: string | null
  /** Null: the last run did not fail. */
  failure?: string | null
  metadata?: Record<string, unknown>
  state?: unknown
  lastTool?: string
  activeAgent?: string | null
}

export interface Decision {
  result: Done
  changes: Change[]
}

/** A question of a rule: which read, with which arguments. */
export type Ask = { [Read in keyof RowReads]: { read: Read; args: Parameters<RowReads[Read]> } }[keyof RowReads]

/** Throws a `ServerError` when the command is refused. */
export type Rule<T> = Generator<Ask, T, unknown>

/** The rule of each of these commands. */
export type RulesOf<C extends Command> = {
  readonly [Type in C['type']]: (command: Extract<C, { type: Type }>) => Rule<Decision>
}

/** A decision whose result says nothing more. */
export const done = (changes: Change[]): Decision => ({ result: { ok: true, firstSeq: 0 }, changes })

// biome-ignore lint/correctness/useYield: this decision needs no rows.
export function* decided(changes: Change[]): Rule<Decision> {
  return done(changes)
}

export function* ask<Read extends keyof RowReads>(
  read: Read,
  ...args: Parameters<RowReads[Read]>
): Rule<ReturnType<RowReads[Read]>> {
  return (yield { read, args } as Ask) as ReturnType<RowReads[Read]>
}

/** Runs a rule on rows that answer at once. */
export function decideNow<T>(rule: Rule<T>, rows: RowReads): T {
  let step = rule.next()
  while (step.done !== true) {
    const { read, args } = step.value
    step = rule.next((rows[read] as (...args: unknown[]) => unknown)(...args))
  }
  return step.value
}

/** The same rows on a store that may have to wait for them. What it has at hand, it answers at once. */
export type LaterRowReads = {
  [Read in keyof RowReads]: (
    ...args: Parameters<RowReads[Read]>
  ) => ReturnType<RowReads[Read]> | Promise<ReturnType<RowReads[Read]>>
}

/** Runs a rule on rows that may have to be waited for. */
export async function decideLater<T>(rule: Rule<T>, rows: LaterRowReads): Promise<T> {
  let step = rule.next()
  while (step.done !== true) {
    const { read, args } = step.value
    const answer = (rows[read] as (...args: unknown[]) => unknown)(...args)
    step = rule.next(answer instanceof Promise ? await answer : answer)
  }
  return step.value
}
