import type { Holder } from '../../domain/byte-budget.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { Entry } from '../../domain/session/entry.ts'
import type { RunInput, RunOrigin, RunRecord, RunSummary } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Caller, Decision } from '../../domain/supervision/decision.ts'
import type { StartedSession } from '../../domain/supervision/supervision.ts'
import type { RunReads } from '../../store/ports/runs.ts'

/** Every door starts, watches and stops work through this port. */
export interface Runs {
  /**
   * Takes a run. When it resolves, the input is durable: kill -9 and a power cut do not lose it. The run then executes by
   * itself; `follow` shows what it does. Throws `run_in_progress`, `queue_full`, `too_many_runs`, `idempotency_mismatch`, …
   */
  start(request: StartRequest): Promise<AcceptedRun>
  /** The owner's run, by our id or by the id that its client gave it. Throws `run_not_found`. */
  get(owner: string, runId: string): Promise<RunRecord>
  /** Asks a run to stop; resolves when the request is durable. A finished run is returned as it is. */
  cancel(run: RunRecord, by: string): Promise<RunRecord>
  /**
   * The entries of a session after `seq`, each once and in order, then live until the signal aborts. Each array holds what
   * was committed together. A reader that lags is served from the log. Throws `events_gone` when `seq` names an entry that
   * was lost or purged. With `runId` it gives only that run's events, and ends after the run's terminal event.
   *
   * A run that was started by a reader goes on while someone follows it, or follows its whole session; following another run
   * of the session does not count. Use an array before you ask for the next one: a large array is emptied then.
   */
  follow(target: FollowTarget, signal: AbortSignal): AsyncIterable<readonly Entry[]>
  /** The newest runs of a session before `before` (a run's own id), newest first. */
  list(sessionId: string, limit: number, before?: string): Promise<RunSummary[]>
  /** The run that is running or waiting, then the queued ones in order. */
  open: RunReads['open']
  /** The session's run that its client called `wireId`. */
  byWireId: RunReads['byWireId']
  /** When this server stops, other processes go on with its runs at once. Readers that connect again miss nothing. */
  readonly handsOver: boolean
  /** The run that continued this one after an answer; null while it waits, or when nothing continued it. */
  continuation(run: RunRecord): Promise<RunRecord | null>
}

/** Who starts a run. */
export interface Starter {
  owner: string
  /** Groups that an identity provider or a proxy puts them into. */
  groups?: readonly string[] | undefined
  /** The only agent that they may talk to with what they sent. */
  onlyAgent?: string | undefined
}

/**
 * Says whether somebody may begin new work now. Throws `quota_exceeded`. What it returns is to be called once, when it is known whether
 * the run was taken.
 */
export type Admit = (starter: Starter) => Promise<(isTaken: boolean) => void>

export interface StartRequest extends Starter {
  /** Null: the session's own agent, or the default one for a new session. */
  agent: string | null
  session: SessionChoice
  /** The client's id for the run. If the session has a run with this id, that run is returned instead (`existing`). */
  wireRunId?: string | undefined
  parentRunId?: string | undefined
  input: RunInput
  /** The id of the request that asks for the run, for the log. */
  correlationId?: string | undefined
  /** Merged key by key into the session's, in the commit that takes the run. */
  metadata?: Record<string, unknown> | undefined
  /** Ids of the files that its messages bring: they belong to the session from now on. Throws `file_not_found`. */
  files?: readonly string[]
  origin: Extract<RunOrigin, 'reader' | 'background'>
  onBusy?: 'queue' | 'reject' | 'interrupt' | undefined
  idempotency?: { key: string; digest: string } | undefined
  /**
   * Answers to what the session waits for, by wait id. Results of client calls need no answer of their own: they are the
   * `tool` messages of the input. A late decision starts nothing: the returned run is the one that took the earlier decision. A
   * rejection may come with a new user message if nothing else is left to decide; the run then answers that message.
   */
  decisions?: { by: Caller; answers: readonly (Decision & { waitId: string })[] } | undefined
  /** What a new message does while the session waits for client tools only: `refuse` throws `approval_pending`, `abandon` gives those calls up. */
  whenWaiting?: 'refuse' | 'abandon'
}

/** `existing` came from `Sessions.find`; `create` makes one with this id or alias unless it exists by now. `started`: for an agent that has no folder of its own. */
export type SessionChoice =
  /** `unchanged`: throws `conflict` if something was said in it since. */
  | { existing: SessionRecord; unchanged?: boolean }
  | { create: { id?: string; alias?: string; label?: string; unlisted?: boolean; started?: StartedSession } }

export interface AcceptedRun {
  run: RunRecord
  session: SessionRecord
  /** The run was there already: same idempotency key, same wire id, or the run that took an answer before. */
  existing: boolean
  /** One for each answer, in order: whether it was applied, and the wait as it is now. */
  answered?: readonly { applied: boolean; wait: AnyRecord | null }[] | undefined
}

export interface FollowTarget {
  sessionId: string
  after: number
  runId?: string
  /** Where the run begins, if the caller knows: a reader that starts there needs no lookup. */
  firstSeq?: number
  /** Who pays for large reads in the budget that all readers share. */
  holder?: Holder
}
