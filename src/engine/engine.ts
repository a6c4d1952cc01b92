import type { AgentDefinition } from '../domain/agent.ts'
import type { ArgumentConditions } from '../domain/approval-rule.ts'
import type { Holder } from '../domain/byte-budget.ts'
import type { Entry } from '../domain/entry.ts'
import type { Grant } from '../domain/grant.ts'
import type { MessageMark, StoredMessage } from '../domain/message.ts'
import type { RunInput, RunOrigin, RunRecord, RunSummary } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'
import type { Approval, ApprovalStatus, ClientCall, Wait } from '../domain/wait.ts'
import type { StoredEntry } from '../store/ports/entry.ts'
import type { SessionQuery } from '../store/ports/sessions.ts'
import type { Tool } from '../tools/tool.ts'

export type { StoredEntry }

/** The heart of the server: every door starts, watches and stops work through this port, and only through it. */
export interface Engine {
  readonly agents: readonly AgentDefinition[]
  /** By name; null is the default agent. Throws `agent_not_found`. */
  agent(name: string | null): AgentDefinition

  /** The owner's session behind an id in either spelling or an alias; null when there is none (a foreign one is none). */
  findSession(owner: string, reference: string): Promise<SessionRecord | null>
  /** Like `findSession`, but throws `session_not_found`, or `malformed_id` when it is no id at all. */
  getSession(owner: string, reference: string): Promise<SessionRecord>
  /** Throws `session_not_found` for an id that we gave to somebody else's session. A client may call its own what it likes otherwise. */
  refuseForeign(owner: string, reference: string): Promise<void>
  /** Sessions of an owner, newest activity first; looking at a list keeps none of them young. Throws `session_not_found` for a `before` that names none of them. */
  sessions(query: SessionPage): Promise<SessionRecord[]>
  /** Idle beyond the time to live of an agent whose sessions then close (`on_expiry: close`). A busy session is not. */
  isExpired(session: SessionRecord): Promise<boolean>

  /**
   * Takes a run. When it resolves, the input is durable: kill -9 and a power cut do not lose it. The run then executes by
   * itself; `follow` shows what it does. Throws `run_in_progress`, `queue_full`, `too_many_runs`, `idempotency_mismatch`, …
   */
  start(request: StartRequest): Promise<AcceptedRun>

  /** The owner's run, by our id or by the id its client gave it. Throws `run_not_found`. */
  getRun(owner: string, runId: string): Promise<RunRecord>
  /** Asks a run to stop; resolves when that is durable. A finished run is returned as it is. */
  cancel(run: RunRecord, by: string): Promise<RunRecord>

  /**
   * The entries of a session after `seq`, each once and in order, then live until the signal aborts. Each array holds what
   * was committed together. A reader that lags is served from the log. Throws `events_gone` when `seq` names an entry that
   * was lost or purged. With `runId` only that run's events; it then ends after the run's terminal event.
   * While someone follows a run that was started by a reader, or all of its session, it is not stopped for want of readers;
   * whoever follows another run of the session, one that is queued behind it too, does not read it. Use an array before you
   * ask for the next: a large one is emptied then.
   */
  follow(target: FollowTarget, signal: AbortSignal): AsyncIterable<readonly Entry[]>

  /** The newest runs of a session before `before` (a run's own id), newest first. */
  runs(sessionId: string, limit: number, before?: string): Promise<RunSummary[]>
  /** The run that is running or waiting, then those queued behind it. */
  openRuns(sessionId: string): Promise<RunRecord[]>
  /** The session's run that its client called `wireId`. */
  runByWireId(sessionId: string, wireId: string): Promise<RunRecord | null>
  /**
   * Entries after `seq`, in order, at most `limit`, and none more once there are `maxChars` of data. A compacted one has in `spans`
   * the seqs that it stands for.
   */
  entries(sessionId: string, seq: number, limit: number, maxChars?: number): Promise<StoredEntry[]>

  /**
   * The newest messages, oldest first, and no older one once there are `maxChars` of them; superseded ones are left out. With
   * `asides` also those of sub-agents and activities among them.
   */
  messages(
    sessionId: string,
    limit: number,
    before?: string,
    maxChars?: number,
    asides?: boolean,
  ): Promise<StoredMessage[]>
  /** Which of the ids the session has, superseded or not, oldest first. */
  messageMarks(sessionId: string, ids: readonly string[]): Promise<MessageMark[]>
  /** Whether a user message follows this one in the conversation as it is now. */
  userSpokeAfter(sessionId: string, messageId: string): Promise<boolean>
  knownMessages(sessionId: string, ids: readonly string[]): Promise<StoredMessage[]>
  /** What waits for a person, newest first; a user sees those of their own sessions, an operator all. */
  approvals(query: ApprovalQuery): Promise<Approval[]>
  /** Throws `approval_not_found`, also for a user who does not own its session. */
  approval(by: Standing, id: string): Promise<Approval>
  /**
   * A person's yes or no from outside of the conversation. The continuation runs by itself. Throws `approval_not_found`,
   * `forbidden` (and leaves it pending), `approval_expired`, `approval_decided` with who decided what and when,
   * `approval_changed` with the question that has taken its place, `tool_unavailable`, or `invalid_request` for edited
   * arguments that the tool does not take.
   */
  decide(
    by: Standing,
    id: string,
    decision: Decision,
    correlationId?: string,
  ): Promise<{ approval: Approval; run: RunRecord }>
  /** The calls of client tools that a session waits for. */
  openClientCalls(sessionId: string): Promise<ClientCall[]>
  /** Throws `tool_call_not_found`, also for somebody else's. */
  clientCall(owner: string, id: string): Promise<ClientCall>
  /** The result of a client tool from outside of the conversation. Throws `tool_call_answered`, `tool_call_expired`. */
  answerClientCall(
    owner: string,
    id: string,
    /** `durationMs`: how long the client says that it took. */
    result: { content: string; isError: boolean; durationMs?: number },
    correlationId?: string,
  ): Promise<RunRecord>
  /** Ends a wait whose time is up: nothing happens when it is answered by now. The continuation, if it has one, runs by itself. */
  expire(wait: Wait): Promise<void>
  /** The run that went on after this one was answered; null while it waits, or when nothing did. */
  continuation(run: RunRecord): Promise<RunRecord | null>

  grants(query?: { agent?: string; sessionId?: string }): Promise<Grant[]>
  /** Throws `grant_not_found`. */
  revokeGrant(by: Standing, id: string): Promise<void>
  /** What the agent can call now, by name. */
  tools(agent: string | null, signal: AbortSignal): Promise<readonly Tool[]>

  /** Cancels an open run, then deletes all of the session. Idempotent. */
  deleteSession(session: SessionRecord): Promise<void>

  stats(): EngineStats
  /** Takes over the runs that a dead process left behind; called at start and then regularly. */
  recover(): Promise<void>
  /**
   * Holds pending approvals and grants against the tools that are there now: what has changed is asked again, or ended. Called
   * after a start; it may have to wait for MCP servers, and never throws.
   */
  review(): Promise<void>
  /**
   * No new work; lets running work finish for `ms`, then suspends background runs and marks the others. `crashed`: the process
   * ends because something failed, so what it cuts off counts as a death when it is taken up again.
   */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

export interface StartRequest {
  owner: string
  /** Null: the session's own agent, or the default one for a new session. */
  agent: string | null
  session: SessionChoice
  /** The client's id for the run. A run of the session that has it already is returned instead (`existing`). */
  wireRunId?: string
  parentRunId?: string
  input: RunInput
  /** Of the request that asks for it. */
  correlationId?: string
  /** Merged key by key into the session's, in the commit that takes the run. */
  metadata?: Record<string, unknown>
  /** Ids of the files that its messages bring: they belong to the session from now on. Throws `file_not_found`. */
  files?: readonly string[]
  origin: Extract<RunOrigin, 'reader' | 'background'>
  onBusy?: 'queue' | 'reject' | 'interrupt'
  idempotency?: { key: string; digest: string }
  /**
   * Answers to what the session waits for: decisions, by wait id. Results of client calls need no answer of their own: they
   * are the `tool` messages of the input. A decision that came too late starts nothing: the run is the one that took it.
   * A refusal may come with a new user message, if it leaves nothing else to be decided: the run is then about the message.
   */
  decisions?: { by: Standing; answers: readonly (Decision & { waitId: string })[] }
  /** What a new message finds while the session waits for client tools alone: `approval_pending`, or those are given up. */
  whenWaiting?: 'refuse' | 'abandon'
}

/** Who answers, and in which role. `anyone` has shown nothing that names `user`: they may look and talk, not decide. */
export interface Standing {
  user: string
  role: 'anyone' | 'user' | 'operator'
}

export interface Decision {
  decision: 'approve' | 'reject'
  /** Of what was shown; another than that of what is asked is refused. */
  digest?: string
  reason?: string
  /** They replace the model's. */
  arguments?: Record<string, unknown>
  /** A standing yes for calls like this one. */
  remember?: {
    scope: 'session' | 'always'
    /** Which arguments are like these; left out, all must be equal. */
    where?: ArgumentConditions
    /** Null: until it is revoked. Left out: 15 minutes in a session, for ever otherwise. */
    seconds?: number | null
  }
}

export interface ApprovalQuery {
  by: Standing
  status?: ApprovalStatus
  sessionId?: string
  limit: number
  before?: { createdAt: number; id: string }
}

/** `existing` came from `findSession`; `create` makes one with this id or alias unless it exists by now. */
export type SessionChoice =
  | { existing: SessionRecord }
  | { create: { id?: string; alias?: string; label?: string; unlisted?: boolean } }

export interface SessionPage extends Pick<SessionQuery, 'label' | 'limit'> {
  owner: string
  /** A place in the list, or the id or alias of the session that is there now. */
  before?: string | SessionQuery['before']
}

export interface AcceptedRun {
  run: RunRecord
  session: SessionRecord
  /** It was there already: same idempotency key, same wire id, or the run that took an answer before. */
  existing: boolean
  /** For each answer, in order: whether it counted, and what it was about as that is now. */
  answered?: readonly { applied: boolean; wait: Wait | null }[]
}

export interface FollowTarget {
  sessionId: string
  after: number
  runId?: string
  /** Where the run begins, if the caller knows: whoever reads it from there needs nothing looked up. */
  firstSeq?: number
  /** Who reads, for what is large. */
  holder?: Holder
}

export interface EngineStats {
  activeRuns: number
  queuedRuns: number
  readers: number
  runsStarted: number
  runsFinished: Readonly<Record<string, number>>
  tokens: { input: number; output: number }
  draining: boolean
}
