// Taking a run: one command that stores the session, the run and its input, and then the run executes or waits in the queue.

import { abortAfter, untilAborted } from '../domain/abort.ts'
import type { AgentDefinition, HostSettings, ModelSettings, SessionSettings } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { agentNotFound, ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import { present } from '../domain/present.ts'
import { factText } from '../domain/session/entry.ts'
import { textOf } from '../domain/session/message.ts'
import type { RunOrigin, RunRecord } from '../domain/session/run.ts'
import { refuseSupervised, type SessionRecord } from '../domain/session/session.ts'
import { hostedSupervision } from '../domain/supervision/supervision.ts'
import type { CancelRun } from './cancel-run.ts'
import type { EngineParts } from './create-engine.ts'
import type { Agents } from './engine.ts'
import { rememberedUser } from './memories/memories.ts'
import type { AcceptedRun, StartRequest } from './ports/runs.ts'
import { runLogger } from './run/run-log.ts'
import { runStart } from './run/run-start.ts'
import type { Runner } from './run/runner.ts'
import { stopsIfUnread } from './run/stops-if-unread.ts'
import type { Continuation } from './waits/continuation.ts'

/** `continuation`: the answers that the run continues with, if it does. When it resolves, the run is durable. */
export type AcceptRun = (request: RunRequest, continuation: Continuation | null) => Promise<AcceptedRun>

type RunRequest = Omit<StartRequest, 'origin' | 'decisions'> & {
  origin: RunOrigin
  /** Throws `conflict` unless the same request came before. */
  onlyRepeat?: true
}

interface AcceptDeps
  extends Pick<
    EngineParts,
    'memories' | 'store' | 'log' | 'clock' | 'ids' | 'logger' | 'telemetry' | 'middleware' | 'limits'
  > {
  agents: Agents
  runner: Runner
  cancel: CancelRun
  /** Called for every new run. */
  onAccepted: () => void
}

const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000

export function createAcceptRun(deps: AcceptDeps): AcceptRun {
  const { agents, store, log, clock, ids, logger, middleware, runner, cancel, limits } = deps

  return async (request, continuation) => {
    refuseWhileDraining(runner)
    const known = knownSession(request)
    const agent = takerOf(agents, request)
    // The run that goes on after an answer has what the run before it had.
    const memories =
      agent.memory === null || continuation !== null ? '' : await memoriesFor(deps, request, agent.name, agent.memory)
    const now = Math.max(clock.now(), known?.lastActivity ?? 0)
    const session = known ?? newSession(request, agent, ids, now)
    const isUnsaid = (request.onBusy ?? agent.onBusy) === null
    const run = newRun(deps, request, continuation, session, agent, now, isUnsaid)
    if (memories !== '') run.input.memories = memories
    const onBusy = request.onBusy ?? agent.onBusy ?? 'queue'
    const { metadata, files, idempotency } = request
    const fact = factText({
      fact: 'run_accepted',
      run: run.id,
      message_ids: request.input.messages.map((message) => message.id),
      at: now,
    })
    const settle = runner.expect(run.id)
    const committing = log.commit({
      type: 'accept_run',
      session,
      run,
      leaseOwner: runner.leaseOwner,
      onBusy,
      maxQueued: limits.queuedRuns,
      maxSessions: limits.sessions,
      unchanged: 'existing' in request.session && request.session.unchanged,
      onlyRepeat: request.onlyRepeat,
      metadata,
      files,
      ...continuation?.command,
      whenWaiting: request.whenWaiting ?? 'refuse',
      idempotency: idempotency && { ...idempotency, expiresAt: now + IDEMPOTENCY_MS },
      acceptEntries: [{ kind: 'fact', data: fact }],
      start: runStart(run, session, now, middleware),
    })
    const committed = await committing.catch((error: unknown) => {
      settle(false)
      throw error
    })
    const accepted = {
      run: committed.run ?? run,
      session: committed.session ?? session,
      existing: committed.existing === true,
      answered: committed.answered,
    }
    if (!accepted.existing) deps.onAccepted()
    if (!accepted.existing && accepted.run.status === 'running') runner.execute(accepted.run, accepted.session)
    const isQueued = !accepted.existing && accepted.run.status === 'queued'
    settle(isQueued)
    if (isQueued) {
      await clearWay(accepted.run, onBusy).catch((error: unknown) =>
        // The caller must still hear that the run is taken, or they send it again.
        runLogger(logger, accepted.run).warn('a queued run has to wait longer than it should', { error }),
      )
    }
    return accepted
  }

  async function clearWay(run: RunRecord, onBusy: StartRequest['onBusy']): Promise<void> {
    const open = await store.runs.open(run.sessionId)
    if (onBusy === 'interrupt') {
      for (const other of open) {
        if (other.id !== run.id && other.status === 'running') await cancel(other, 'a newer run')
      }
      return
    }
    const [first] = open
    // The run before it ended while this one was being queued.
    if (first?.id === run.id) await runner.startNext(run.sessionId)
    else if (first !== undefined && stopsIfUnread(run, first)) runner.stopIfUnread(first)
  }
}

/**
 * The same, for a caller that must hear something within this time. A database can keep a commit open for as long as its standby is away.
 * The run is taken when the commit comes, and whoever sends the same request again finds it.
 */
export function acceptWithin(accept: AcceptRun, ms: number, clock: Clock): AcceptRun {
  return async (...args) => {
    using late = abortAfter(clock, ms, { reason: notConfirmed, hold: true })
    return await untilAborted(accept(...args), late.signal)
  }
}

const notConfirmed = (): ServerError =>
  new ServerError(
    'storage_failed',
    'The database has not confirmed this in time, so nobody knows yet whether it is done. Send the same request again, with the same Idempotency-Key: it is done once.',
  )

export function refuseWhileDraining({ draining }: Pick<Runner, 'draining'>): void {
  if (!draining) return
  throw new ServerError('shutting_down', 'The server is stopping. Send it again in a moment.', {
    details: { retry_after_seconds: 5 },
  })
}

type Addressed = Pick<RunRequest, 'agent' | 'session'>

export const knownSession = ({ session }: Addressed): SessionRecord | null =>
  'existing' in session ? session.existing : null

/** The agent that answers a request. Throws `agent_not_found`, and first `session_supervised`: no agent of ours has that session's name. */
export function agentOf(agents: Agents, request: Addressed): AgentDefinition {
  const session = knownSession(request)
  refuseSupervised(session)
  const agent = agents.get(request.agent ?? session?.agent ?? null)
  refuseOtherFolder(agent, request)
  return agent
}

/** The program of a hosted agent works in the folder of its own sessions, and in no other. */
function refuseOtherFolder({ name, host }: AgentDefinition, request: Addressed): void {
  const session = knownSession(request)
  const isStarted = 'create' in request.session && request.session.create.started !== undefined
  if (session === null && host?.workspace === null && !isStarted) throw agentNotFound(name)
  const isHosted = host !== null || session?.supervision !== undefined
  if (session === null || session.agent === name || !isHosted) return
  throw new ServerError(
    'invalid_request',
    `This session belongs to ${session.agent}. Begin a new one to talk to ${name}: a coding agent works in the folder of its own sessions.`,
  )
}

/** An answer is taken by every server, also by one that does not have the agent: another one goes on with it. */
function takerOf(agents: Agents, request: RunRequest): Taker {
  if (request.origin === 'answer' && request.agent !== null)
    return { name: request.agent, onBusy: 'queue', host: null, memory: null }
  const { name, sessions, host, model, memory } = agentOf(agents, request)
  return { name, onBusy: sessions.onBusy, host, memory: memory === true ? model : null }
}

/** Chosen once, so that all steps of the run are told the same. */
async function memoriesFor(
  { memories }: Pick<AcceptDeps, 'memories'>,
  request: RunRequest,
  name: string,
  { contextWindow }: Pick<ModelSettings, 'contextWindow'>,
): Promise<string> {
  const known = knownSession(request)
  const all = await memories.of(known === null ? request.owner : rememberedUser(known))
  const own = all.filter(({ agent }) => agent === name)
  if (own.length === 0) return ''
  const { toldMemories } = await import('./memories/told-memories.ts')
  const message = request.input.messages.findLast(({ role }) => role === 'user')
  return toldMemories(own, message === undefined ? '' : textOf(message.content), contextWindow)
}

interface Taker {
  name: string
  onBusy: SessionSettings['onBusy']
  /** Null: it has a model. */
  host: HostSettings | null
  /** Its model, if it keeps facts about users. */
  memory: Pick<ModelSettings, 'contextWindow'> | null
}

function newSession(
  { owner, session }: RunRequest,
  { name: agent, host }: Taker,
  ids: Ids,
  now: number,
): SessionRecord {
  const { id, alias, label, unlisted, started } = 'create' in session ? session.create : {}
  return {
    id: id ?? ids.uuid(),
    owner,
    agent,
    activeAgent: null,
    status: 'active',
    createdAt: now,
    lastActivity: now,
    terminatedAt: null,
    lastTool: null,
    metadata: {},
    alias: alias ?? null,
    label,
    messageCount: 0,
    state: undefined,
    unlisted: unlisted ?? false,
    ...present({ supervision: host === null ? undefined : hostedSupervision(host, now, started) }),
  }
}

function newRun(
  { ids, telemetry }: Pick<AcceptDeps, 'ids' | 'telemetry'>,
  request: RunRequest,
  continuation: Continuation | null,
  session: SessionRecord,
  { name: agent, host }: Taker,
  now: number,
  isBusyUnsaid: boolean,
): RunRecord {
  const { correlationId } = request
  const id = ids.uuid()
  const trace = telemetry.traceFor(id, continuation?.parent ?? null)
  return {
    id,
    sessionId: session.id,
    owner: request.owner,
    agent,
    wireId: request.wireRunId ?? id,
    parentRunId: request.parentRunId ?? continuation?.parent?.wireId ?? null,
    status: 'queued',
    // The work of a coding agent goes on without a reader.
    origin: host !== null && request.origin === 'reader' ? 'background' : request.origin,
    input: {
      ...(continuation?.input ?? request.input),
      // What is absent here stays as the run that waited had it.
      ...present({ correlationId, trace, stopsUnread: isBusyUnsaid ? (true as const) : undefined }),
    },
    createdAt: now,
    startedAt: null,
    finishedAt: null,
    usage: [],
    error: null,
    cancelRequested: false,
    firstSeq: null,
    lastSeq: null,
    fence: 0,
    leaseOwner: null,
  }
}
