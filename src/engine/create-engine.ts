// The engine: takes runs, executes them, shows them, stops them. What a run does is in `execute-run.ts`; what survives a crash
// is in the store; this file is the life around it.

import type { AgentDefinition } from '../domain/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { factText } from '../domain/entry.ts'
import { runNotFound, ServerError } from '../domain/errors.ts'
import { type Ids, parseUuid } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isFinished, type RunRecord } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Store } from '../store/store.ts'
import { createAnswerDesk, type Settled, type TakenBy } from './answer-desk.ts'
import { createAskAgain } from './ask-again.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files-port.ts'
import { type Gate, openGate } from './gate.ts'
import { chain, type Middleware } from './middleware/middleware.ts'
import type { AcceptedRun, StartRequest } from './ports/runs.ts'
import { reviewStanding } from './review-standing.ts'
import { createTokenCorrection } from './run/context-window.ts'
import { ending } from './run/execute-run.ts'
import { logEndOfIdle, runLogger } from './run/run-line.ts'
import type { AgentParts } from './run/run-scope.ts'
import { runStart } from './run/run-start.ts'
import { createRunWriter } from './run/run-writer.ts'
import { createRunner } from './run/runner.ts'
import { createSteadyTime } from './run/steady-time.ts'
import { createSessionBook } from './sessions/find-session.ts'
import { followEntries } from './sessions/follow.ts'
import { createPresence } from './sessions/presence.ts'

export interface EngineOptions {
  agents: readonly Pick<AgentParts, 'definition' | 'model' | 'toolbox'>[]
  store: Store
  log: SessionLog
  clock: Clock
  ids: Ids
  logger: Logger
  middleware?: readonly Middleware[]
  /** Left out, everything runs unasked. */
  gate?: Gate
  /** Left out, what people attach does not reach the model. */
  files?: Files
  limits: {
    activeRuns: number
    sessions: number | null
    queuedRuns: number
    /** Null: a run never stops for want of readers. */
    disconnectGraceMs: number | null
  }
}

const correlationOf = ({ correlationId }: Pick<StartRequest, 'correlationId'>) =>
  correlationId === undefined ? {} : { correlationId }

const MOST_WAITS = 1_000
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1000

export function createEngine(options: EngineOptions): Engine {
  const { store, log, clock, ids, logger, limits } = options
  const middleware = chain(options.middleware ?? [])
  const agents = new Map<string, AgentParts>(
    options.agents.map((parts) => [parts.definition.name, { ...parts, correction: createTokenCorrection() }]),
  )
  const definitions = options.agents.map((parts) => parts.definition).filter((one) => !one.internal)
  const fallbackAgent = definitions.find((one) => one.default) ?? definitions[0]
  const presence = createPresence(clock, limits.disconnectGraceMs)
  const gate = options.gate ?? openGate
  const fileSource = options.files ?? null
  const runner = createRunner({ agents, store, log, clock, ids, logger, middleware, presence, gate, fileSource })
  // A wall clock that jumps ahead must not make an approval expire early.
  const longestWait = Math.max(...options.agents.map(({ definition }) => definition.approval.expiresSeconds))
  const steadyTime = createSteadyTime(clock, 1_000 * longestWait)
  const answerTime = () => {
    const steady = Math.floor(steadyTime())
    // It is exact to the second only; where nothing has jumped the wall clock says more.
    return clock.now() - steady < 2_000 ? clock.now() : steady
  }
  const { startNext } = runner
  const questions = createAskAgain({ store, log, ids, gate, agents, logger })
  const desk = createAnswerDesk({ store, log, ids, gate, agents, questions, now: answerTime, take, startNext })
  const book = createSessionBook({
    store,
    log,
    clock,
    logger,
    rulesOf: (session) => (agents.get(session.agent)?.definition ?? fallbackAgent)?.sessions,
    isDraining: () => runner.draining,
  })
  let runsStarted = 0
  const stopReview = new AbortController()
  let reviewing: Promise<void> = Promise.resolve()

  function agent(name: string | null): AgentDefinition {
    const found = name === null ? fallbackAgent : definitions.find((one) => one.name === name)
    if (found === undefined) {
      const names = definitions.map((one) => one.name).join(', ')
      throw new ServerError('agent_not_found', `There is no agent ${JSON.stringify(name)}. Agents: ${names}.`, {
        details: { agent: name },
      })
    }
    return found
  }

  function newSession(request: TakenBy, agentName: string, now: number): SessionRecord {
    const choice = 'create' in request.session ? request.session.create : {}
    return {
      id: choice.id ?? ids.uuid(),
      owner: request.owner,
      agent: agentName,
      activeAgent: null,
      status: 'active',
      createdAt: now,
      lastActivity: now,
      terminatedAt: null,
      lastTool: null,
      metadata: {},
      alias: choice.alias ?? null,
      ...(choice.label === undefined ? {} : { label: choice.label }),
      messageCount: 0,
      state: undefined,
      unlisted: choice.unlisted ?? false,
    }
  }

  async function cancelOpenRuns(sessionId: string, by: string): Promise<void> {
    for (const open of await store.runs.open(sessionId)) await cancel(open, by)
  }

  async function cancel(run: RunRecord, by: string): Promise<RunRecord> {
    const now = clock.now()
    try {
      const fact = factText({ fact: 'cancel_requested', run: run.id, by, at: now })
      await log.commit({ type: 'request_cancel', runId: run.id, entries: [{ kind: 'fact', data: fact }] })
    } catch (error) {
      // It ended in the meantime: that is what was asked for.
      if (!(error instanceof ServerError) || error.code !== 'conflict') throw error
    }
    // Also one that has just begun to wait: what is stopped here does not say so.
    const isStopped = runner.stop(run.id, { kind: 'cancelled', by })
    await endIdle(run.id, by, isStopped)
    return shown((await store.runs.get(run.id)) ?? run)
  }

  /** Whoever hears that a run has ended must never find it running again. */
  async function shown(run: RunRecord): Promise<RunRecord> {
    if (isFinished(run.status)) await log.synced(run.sessionId)
    return run
  }

  async function clearWay(run: RunRecord, onBusy: StartRequest['onBusy']): Promise<void> {
    const open = await store.runs.open(run.sessionId)
    if (onBusy === 'interrupt') {
      for (const other of open) {
        if (other.id !== run.id && other.status === 'running') await cancel(other, 'a newer run')
      }
    } else if (open[0]?.id === run.id) {
      // What it waited for ended while it was being queued.
      await runner.startNext(run.sessionId)
    }
  }

  /** What a session had attached goes with it. What is left behind here is found by the next sweep. */
  async function sweepFiles(): Promise<void> {
    await fileSource?.sweep?.().catch((error: unknown) => logger.warn('files could not be swept yet', { error }))
  }

  /** Ends a run that nobody executes. */
  async function endIdle(runId: string, by: string, isStopped: boolean): Promise<void> {
    const run = await store.runs.get(runId)
    const session = run === null ? null : await store.sessions.get(run.sessionId)
    if (run === null || session === null) return
    if (run.status === 'queued' && !isStopped) await endQueued(run, session, by)
    if (run.status === 'waiting') await endWaiting(run, by)
    // It began to run just now.
    if (run.status === 'running' && !isStopped) runner.stop(runId, { kind: 'cancelled', by })
  }

  /** On the wire it has ended already. What it waited for is interrupted. */
  async function endWaiting(run: RunRecord, by: string): Promise<void> {
    const { id: runId, sessionId, fence, usage } = run
    const now = clock.now()
    const end = { status: 'cancelled', now, entries: [], messages: [], usage, error: null } as const
    try {
      await log.commit({ type: 'finish_run', runId, fence, ...end })
      logEndOfIdle(logger, run, 'cancelled', { stoppedBy: by })
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== 'run_fenced') throw error
      // It was answered just now: what goes on in its place is what was to be stopped.
      for (const open of await store.runs.open(sessionId)) if (open.status === 'running') await cancel(open, by)
    }
    await runner.startNext(sessionId)
  }

  /** A queued run that is cancelled never began: its whole stream is a start and an end. */
  async function endQueued(run: RunRecord, session: SessionRecord, by: string): Promise<void> {
    const now = Math.max(clock.now(), run.createdAt)
    const writer = createRunWriter({ log, clock, middleware }, run)
    for (const entry of runStart({ ...run, input: { ...run.input, messages: [] } }, session, now, middleware).entries) {
      writer.emit(JSON.parse(entry.data))
    }
    try {
      await writer.finish(ending({ kind: 'cancelled', by }, run, session, [], [], now))
      logEndOfIdle(logger, run, 'cancelled', { stoppedBy: by })
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== 'run_fenced') throw error
      // It began to run just now.
      runner.stop(run.id, { kind: 'cancelled', by })
    }
  }

  function refuseWhileDraining(): void {
    if (!runner.draining) return
    throw new ServerError('shutting_down', 'The server is stopping. Send it again in a moment.', {
      details: { retry_after_seconds: 5 },
    })
  }

  /** Takes a run into the store and, if it is its turn, executes it. */
  async function take(request: Omit<StartRequest, 'origin'> & TakenBy, settled: Settled | null): Promise<AcceptedRun> {
    refuseWhileDraining()
    const known = 'existing' in request.session ? request.session.existing : null
    const definition = agent(request.agent ?? known?.agent ?? null)
    const now = Math.max(clock.now(), known?.lastActivity ?? 0)
    const session = known ?? newSession(request, definition.name, now)
    const id = ids.uuid()
    const run: RunRecord = {
      id,
      sessionId: session.id,
      owner: request.owner,
      agent: definition.name,
      wireId: request.wireRunId ?? id,
      parentRunId: request.parentRunId ?? settled?.parent?.wireId ?? null,
      status: 'queued',
      origin: request.origin,
      input: { ...(settled?.input ?? request.input), ...correlationOf(request) },
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
    const onBusy = request.onBusy ?? definition.sessions.onBusy
    const accepted = factText({
      fact: 'run_accepted',
      run: id,
      message_ids: request.input.messages.map((message) => message.id),
      at: now,
    })
    const settle = runner.expect(id)
    const taking = log.commit({
      type: 'accept_run',
      session,
      run,
      leaseOwner: runner.leaseOwner,
      onBusy,
      maxQueued: limits.queuedRuns,
      maxSessions: limits.sessions,
      ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
      ...(request.files === undefined ? {} : { files: request.files }),
      ...settled?.command,
      whenWaiting: request.whenWaiting ?? 'refuse',
      ...(request.idempotency === undefined
        ? {}
        : { idempotency: { ...request.idempotency, expiresAt: now + IDEMPOTENCY_MS } }),
      acceptEntries: [{ kind: 'fact', data: accepted }],
      start: runStart(run, session, now, middleware),
    })
    const done = await taking.catch((error: unknown) => {
      settle(false)
      throw error
    })
    const taken = {
      run: done.run ?? run,
      session: done.session ?? session,
      existing: done.existing === true,
      ...(done.answered === undefined ? {} : { answered: done.answered }),
    }
    if (!taken.existing) runsStarted += 1
    if (!taken.existing && taken.run.status === 'running') runner.execute(taken.run, taken.session)
    const isQueued = !taken.existing && taken.run.status === 'queued'
    settle(isQueued)
    if (!isQueued) return taken
    try {
      await clearWay(taken.run, onBusy)
    } catch (error) {
      // It is taken, and whoever asked must hear so, or they say it again.
      runLogger(logger, taken.run).warn('a queued run has to wait longer than it should', { error })
    }
    return taken
  }

  async function start(request: StartRequest): Promise<AcceptedRun> {
    refuseWhileDraining()
    const known = 'existing' in request.session ? request.session.existing : null
    agent(request.agent ?? known?.agent ?? null)
    const settled = known === null ? null : await desk.answersIn(request, known)
    // What was begun may go on: only new work is held off.
    if (settled === null && runner.active >= limits.activeRuns) {
      throw new ServerError(
        'too_many_runs',
        `${limits.activeRuns} runs are active, the server's limit. Try again soon.`,
        { details: { retry_after_seconds: 1 } },
      )
    }
    const name = 'create' in request.session ? (request.session.create.id ?? request.session.create.alias) : undefined
    if (name !== undefined) await book.refuseForeign(request.owner, name)
    const taken = await take(request, settled)
    for (const { applied, wait } of taken.answered ?? []) {
      // It was asked again just now: there is nothing to attach to.
      if (!applied && wait?.wait === 'approval') await questions.refuseReplaced(wait)
    }
    const said = request.input.messages.filter(({ role }) => role === 'user')
    const isRepeat = taken.run.wireId === request.wireRunId
    if (settled === null || !taken.existing || isRepeat || said.length === 0) return taken
    // Somebody else answered just now, or the run took the answer and goes on: what was said with it is said next.
    const { decisions: _given, ...rest } = request
    return take({ ...rest, input: { ...request.input, messages: said } }, null)
  }

  async function remove(session: SessionRecord): Promise<void> {
    for (;;) {
      await cancelOpenRuns(session.id, 'deletion of the session')
      await runner.settled(session.id)
      try {
        await log.commit({ type: 'delete_session', sessionId: session.id, now: clock.now() })
        await sweepFiles()
        return
      } catch (error) {
        // Someone began another run in between.
        if (!(error instanceof ServerError) || error.code !== 'conflict') throw error
      }
    }
  }

  return {
    agents: {
      list: definitions,
      get: agent,
      async tools(name, signal) {
        const parts = agents.get(agent(name).name)
        return parts === undefined ? [] : [...(await parts.toolbox.tools(signal)).values()]
      },
    },

    sessions: { ...book, entries: store.entries, remove },

    runs: {
      start,
      open: store.runs.open,
      byWireId: store.runs.byWireId,
      follow: (target, signal) => followEntries({ store, log, presence, runner }, target, signal),
      cancel: async (run, by) => (isFinished(run.status) ? run : cancel(run, by)),

      async get(owner, runId) {
        const id = parseUuid(runId)
        const run = (id === null ? null : await store.runs.get(id)) ?? (await store.runs.ofOwner(owner, runId))
        if (run === null || run.owner !== owner) throw runNotFound(runId)
        return shown(run)
      },

      async list(sessionId, limit, before) {
        const runs = await store.runs.latest(sessionId, limit, before)
        await log.synced(sessionId)
        return runs
      },

      async continuation(run) {
        const waits = await store.waits.list({ sessionId: run.sessionId, runId: run.id, limit: MOST_WAITS })
        // The run itself took what was answered while it ran.
        const next = waits.find((wait) => wait.continuationRunId !== null && wait.continuationRunId !== run.id)
        const id = next?.continuationRunId ?? null
        return id === null ? null : store.runs.get(id)
      },
    },

    messages: store.messages,
    waits: desk.waits,

    approvals: {
      ...desk.approvals,
      grants: (query = {}) => store.grants.list({ ...query, now: clock.now() }),

      async revokeGrant(by, id) {
        const grant = await store.grants.get(id)
        if (grant === null) throw new ServerError('grant_not_found', `There is no grant ${JSON.stringify(id)}.`)
        const details = { grant: id, approval: grant.approvalId }
        const about = { session: grant.sessionId, run: null, agent: grant.agent, tool: grant.tool, call: null }
        const audit = { at: clock.now(), kind: 'grant_revoked' as const, by: by.user, ...about, details }
        await log.commit({ type: 'revoke_grant', grantId: id, audit })
      },

      review() {
        reviewing = reviewStanding(
          { store, log, gate, agents, questions, now: clock.now, logger },
          stopReview.signal,
        ).catch((error: unknown) => {
          if (!stopReview.signal.aborted) logger.warn('approvals and grants could not be reviewed', { error })
        })
        return reviewing
      },
    },

    stats: () => ({
      activeRuns: runner.active,
      queuedRuns: runner.queued,
      readers: presence.readers,
      runsStarted,
      runsFinished: runner.finished,
      tokens: runner.tokens,
      draining: runner.draining,
    }),
    recover: () => runner.recover(),
    drain: (ms, how) => runner.drain(ms, how),
    async close() {
      stopReview.abort()
      await reviewing
      await runner.close()
    },
  }
}
