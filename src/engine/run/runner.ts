// Runs the runs of this process: one at a time per session, the next when one ends, those of a dead process taken over.

import type { Clock } from '../../domain/clock.ts'
import { sleep } from '../../domain/clock.ts'
import { type Entry, factText } from '../../domain/entry.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { SessionLog } from '../../log/session-log.ts'
import { createLocalWake, type Wake } from '../../log/wake.ts'
import type { Store } from '../../store/store.ts'
import type { Files } from '../files-port.ts'
import type { Gate } from '../gate.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { type CallFate, fateRecords, notRun, readFates, tellFates } from '../recovery/call-fates.ts'
import { brokenOffMessages, readRemains, reviewNeeded } from '../recovery/read-remains.ts'
import type { Presence } from '../sessions/presence.ts'
import { ending, executeRun, type Outcome, type Resumption } from './execute-run.ts'
import { createLease } from './lease.ts'
import { messagesSnapshot, SNAPSHOT_LIMIT, shownMessages } from './messages-snapshot.ts'
import { createPriceList } from './prices.ts'
import { requestedStop, runEntries } from './run-entries.ts'
import { logEndOfIdle, runLogger } from './run-log.ts'
import type { AgentParts } from './run-scope.ts'
import { messagesOf, runStart } from './run-start.ts'
import { BROKEN_OFF, createRunWriter, type RunWriter } from './run-writer.ts'
import type { Stop } from './stop.ts'

export interface Runner {
  readonly leaseOwner: string
  readonly active: number
  readonly queued: number
  readonly finished: Readonly<Record<string, number>>
  readonly tokens: { input: number; output: number }
  readonly draining: boolean
  /** Aborts when this process shows nothing more: readers must go elsewhere. */
  readonly ended: AbortSignal
  /** Starts executing a run that the store gave to this process. */
  execute(run: RunRecord, session: SessionRecord): void
  /**
   * A run is about to be taken: others may begin it or tell it to stop before we hear of it. Call what is returned once we
   * have, with whether it was queued; a run that was not is executed before that.
   */
  expect(runId: string): (isQueued: boolean) => void
  startNext(sessionId: string): Promise<void>
  /** False when the run does not execute here. Its owner is then told to look for a request to stop in the store. */
  stop(run: Pick<RunRecord, 'id' | 'sessionId'>, why: Stop): boolean
  /** Resolves when no run of the session executes here. Gives another process a moment to stop one that executes there. */
  settled(sessionId: string): Promise<void>
  recover(): Promise<void>
  /** `crashed`: what is cut off is not given back, so that the next owner counts it as a death. */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

export interface RunnerDeps {
  agents: ReadonlyMap<string, AgentParts>
  store: Pick<Store, 'entries' | 'sessions' | 'messages' | 'runs' | 'waits' | 'files'>
  log: SessionLog
  clock: Clock
  ids: Ids
  logger: Logger
  middleware: Middleware | null
  presence: Presence
  gate: Gate
  fileSource: Files | null
  /** Left out: no other process uses the store. */
  wake?: Wake
  /** No other process can use the store, so every run that is not ours has lost its owner. */
  isOnlyProcess: boolean
  limits: { disconnectGraceMs: number | null }
}

interface Active {
  run: RunRecord
  writer: RunWriter
  stop: AbortController
  done: Promise<void>
}

const RECOVERY_BATCH = 100
/** How long to wait for another process before looking for oneself. */
const LOOK_MS = 1_000
const READ_BATCH = 1_000

export function createRunner(deps: RunnerDeps): Runner {
  const { agents, store, log, clock, ids, logger, middleware, presence, gate, fileSource } = deps
  const { disconnectGraceMs: graceMs } = deps.limits
  const prices = createPriceList([...agents.values()].map(({ definition }) => definition.model))
  const wake = deps.wake ?? createLocalWake({ clock, pollMs: null })
  const lease = createLease(deps)
  const leaseOwner = lease.owner
  const active = new Map<string, Active>()
  const queued = new Set<string>()
  /** Runs that are this process's own and that it could not go on with: no other will, so `recover` takes them up again. */
  const abandoned = new Set<string>()
  /** Runs that the store is just giving to this process: they can be told to stop before they execute. */
  const starting = new Map<string, { stop: AbortController; holders: number }>()
  const finished: Record<string, number> = {}
  const tokens = { input: 0, output: 0 }
  const ended = new AbortController()
  let draining = false
  let crashed = false
  const otherEngines = wake.join('runs', (sessionId) => void look(sessionId))

  /** Call what is returned when the run executes or will not. */
  function prepare(runId: string): () => void {
    // Two may try to begin the same run: whoever fails must not take from the other what it is told to stop by.
    const entry = starting.get(runId) ?? { stop: new AbortController(), holders: 0 }
    entry.holders += 1
    starting.set(runId, entry)
    return () => {
      entry.holders -= 1
      if (entry.holders === 0) starting.delete(runId)
    }
  }

  async function giveBack({ id: runId, fence }: RunRecord): Promise<void> {
    try {
      await log.commit({ type: 'release_run', runId, fence })
    } catch (error) {
      // Another process has taken it over already.
      if (!(error instanceof ServerError) || error.code !== 'run_fenced') throw error
    }
  }

  /** `work` is the run itself; whatever it throws is a bug, for runs end with events. */
  function track(run: RunRecord, writer: RunWriter, stop: AbortController, work: () => Promise<Outcome>): void {
    const onAbandoned = () => stop.abort({ kind: 'cancelled', by: 'its readers leaving' } satisfies Stop)
    const { id: runId, sessionId } = run
    const detach =
      run.origin === 'reader' && graceMs !== null
        ? presence.attend({ sessionId, runId, graceMs }, onAbandoned)
        : () => {}
    const live = async () => {
      try {
        const outcome = await work()
        if (outcome === 'suspended' && !crashed) await giveBack(run)
        finished[outcome] = (finished[outcome] ?? 0) + 1
      } catch (error) {
        abandoned.add(run.id)
        runLogger(logger, run).error('a run could not be ended; it is recovered later', { error })
      }
      detach()
      active.delete(run.id)
      otherEngines.notify(run.sessionId)
      await startNext(run.sessionId)
    }
    const entry: Active = { run, writer, stop, done: Promise.resolve() }
    active.set(run.id, entry)
    entry.done = live()
  }

  function run(record: RunRecord, session: SessionRecord, writer: RunWriter, resumption?: Resumption): void {
    const agent = agents.get(record.agent)
    const stop = starting.get(record.id)?.stop ?? new AbortController()
    track(record, writer, stop, async () => {
      if (agent === undefined) {
        const message = `The agent ${record.agent} is no longer served here.`
        const why = { kind: 'failed', code: 'agent_not_found', message } as const
        await writer.finish(ending(why, record, session, [], [], writer.timestamp()))
        logEndOfIdle(logger, record, 'failed', { error: why })
        return 'failed'
      }
      const { outcome, usage } = await executeRun(
        { store, clock, ids, log: runLogger(logger, record), gate, agents, prices, fileSource },
        agent,
        record,
        session,
        writer,
        stop,
        resumption,
      )
      for (const one of usage) {
        tokens.input += one.inputTokens ?? 0
        tokens.output += one.outputTokens ?? 0
      }
      return outcome
    })
  }

  async function startNext(sessionId: string): Promise<void> {
    if (draining) return
    for (;;) {
      try {
        const open = await store.runs.open(sessionId)
        const next = open[0]
        // A continuation is taken before what was queued ahead of it.
        if (next !== undefined && open.every((one) => one.status === 'queued')) await begin(next)
        return
      } catch (error) {
        if (!(error instanceof ServerError)) throw error
        // Someone else started it, or it was cancelled just now and another one is next.
        if (error.code === 'conflict') continue
        // The store is in trouble: `recover` looks again.
        logger.warn('a queued run could not be started yet', { session_id: sessionId, error })
        return
      }
    }
  }

  async function begin(run_: RunRecord): Promise<void> {
    const session = await store.sessions.get(run_.sessionId)
    if (session === null) return
    const now = Math.max(clock.now(), session.lastActivity)
    const known = new Set(
      (
        await store.messages.marks(
          session.id,
          run_.input.messages.map((one) => one.id),
        )
      ).map((one) => one.id),
    )
    const input = { ...run_.input, messages: run_.input.messages.filter((one) => !known.has(one.id)) }
    const start = {
      ...runStart({ ...run_, input }, session, now, middleware),
      // All of them: the store judges by them what was said before.
      messages: messagesOf(run_, now),
    }
    const settle = prepare(run_.id)
    let started: RunRecord | null = null
    try {
      const done = await log.commit({ type: 'start_run', runId: run_.id, leaseOwner, now, start })
      queued.delete(run_.id)
      started = done.run ?? run_
      const current = (await store.sessions.get(session.id)) ?? session
      run(started, current, createRunWriter({ log, clock, middleware }, started))
    } catch (error) {
      if (started !== null) abandoned.add(started.id)
      throw error
    } finally {
      settle()
    }
  }

  async function takeOver(orphan: RunRecord): Promise<void> {
    const session = await store.sessions.get(orphan.sessionId)
    if (session === null) return
    const entries = await runEntries(store, orphan)
    // One that was given back has no owner, and one that we could not go on with has us: neither died with it.
    const died = orphan.leaseOwner !== null && orphan.leaseOwner !== leaseOwner
    const data = factText({
      fact: 'run_recovered',
      run: orphan.id,
      fence: orphan.fence + 1,
      ...(died ? { died } : {}),
      at: clock.now(),
    })
    const recovered = { kind: 'fact' as const, data }
    const settle = prepare(orphan.id)
    let record: RunRecord | null = null
    try {
      const claimed = await log.commit({
        type: 'claim_run',
        runId: orphan.id,
        fence: orphan.fence,
        leaseOwner,
        entries: [recovered],
      })
      abandoned.delete(orphan.id)
      record = { ...(claimed.run ?? orphan), origin: 'recovery' }
      await goOn(record, session, [...entries, recovered])
    } catch (error) {
      if (record !== null) abandoned.add(record.id)
      throw error
    } finally {
      settle()
    }
  }

  /** A run that is ours now goes on after what its last owner left, or ends where it may not. */
  async function goOn(
    record: RunRecord,
    session: SessionRecord,
    entries: readonly Pick<Entry, 'kind' | 'data'>[],
  ): Promise<void> {
    const remains = readRemains(entries)
    const writer = createRunWriter({ log, clock, middleware }, record, remains.writtenUntil ?? undefined)
    for (const event of remains.events) writer.see(event)
    const now = writer.timestamp()
    const partial = brokenOffMessages(remains, record, now)
    /** What became of each call is told, also where it is only stopped. */
    const end = async (why: Exclude<Stop, { kind: 'suspended' }>, fates: readonly CallFate[]) => {
      // Nothing may be open when a result is shown.
      for (const event of writer.open.closing(now, BROKEN_OFF)) writer.emit(event)
      const results = tellFates(fates, record, writer, ids)
      const finished = ending(why, record, session, remains.usage, [...partial, ...results], writer.timestamp())
      await writer.finish({ ...finished, audit: fateRecords(fates, record, session, now) })
      logEndOfIdle(logger, record, finished.status, { error: finished.error })
      await startNext(session.id)
    }
    const fates = () => readFates(store, session.id, remains)

    if (record.cancelRequested) return end({ kind: 'cancelled', by: 'request' }, await fates())
    const review = reviewNeeded(remains)
    if (review !== null) {
      const open = await fates()
      const message = `${review}${notRun(open)}`
      runLogger(logger, record).error('a run was not resumed: a person has to look at it', { reason: message })
      return end({ kind: 'failed', code: 'needs_review', message }, open)
    }
    for (const event of writer.open.closing(now, BROKEN_OFF)) writer.emit(event)
    await writer.commit({ messages: partial })
    const history = shownMessages(await store.messages.page(session.id, READ_BATCH, undefined, SNAPSHOT_LIMIT, true))
    const said = history.filter(({ lane }) => lane === undefined).length
    const isWhole = said < READ_BATCH && said >= session.messageCount
    const total = isWhole ? history.length : session.messageCount
    writer.emit(messagesSnapshot(history, total, now))
    await writer.flush()
    runLogger(logger, record).info('a run goes on after a restart', { steps_done: remains.stepsDone })
    run(record, session, writer, {
      stepsDone: remains.stepsDone,
      usage: remains.usage,
      begun: new Map(remains.unanswered.map((intent) => [intent.call, intent.binding])),
    })
  }

  async function recoverOne(orphan: RunRecord): Promise<void> {
    try {
      await (orphan.status === 'queued' ? begin(orphan) : takeOver(orphan))
    } catch (error) {
      // Another process was faster.
      if (error instanceof ServerError && (error.code === 'run_fenced' || error.code === 'conflict')) return
      runLogger(logger, orphan).warn('a run could not be recovered yet', { error })
    }
  }

  /** Whoever told us to stop may lose patience and kill us: that is no death that the run has to do with. */
  function noteStopping({ run, writer }: Active): void {
    const fact = { fact: 'stopping' as const, run: run.id, at: writer.timestamp() }
    writer.commit({ facts: [fact] }).catch((error: unknown) => {
      // It has just ended.
      if (error instanceof ServerError && error.code === 'conflict') return
      runLogger(logger, run).warn('a run could not be told that the server stops', { error })
    })
  }

  async function ownOrphans(): Promise<RunRecord[]> {
    const orphans: RunRecord[] = []
    for (const id of [...abandoned]) {
      const run = await store.runs.get(id)
      if (run?.status === 'running' && run.leaseOwner === leaseOwner && !active.has(id)) orphans.push(run)
      else abandoned.delete(id)
    }
    return orphans
  }

  async function takeOverOrphans(): Promise<void> {
    const tried = new Set<string>()
    for (let found = await ownOrphans(); !draining; ) {
      // Those that cannot be recovered yet stay orphans; they must not hide the ones behind them.
      found.push(...(await store.runs.orphans(clock.now(), RECOVERY_BATCH + tried.size)))
      const next = found.filter(({ id }) => !tried.has(id) && !active.has(id))
      if (next.length === 0) return
      for (const { id } of next) tried.add(id)
      // Side by side: each is in a session of its own, and together they share their syncs.
      await Promise.all(next.map(recoverOne))
      found = []
    }
  }

  /** Another process says that runs of this session have changed; null: runs of any session may have. */
  async function look(sessionId: string | null): Promise<void> {
    try {
      if (sessionId !== null) return await lookInto(sessionId)
      const sessions = new Set([...active.values()].map(({ run }) => run.sessionId))
      for (const id of sessions) await lookInto(id)
      await takeOverOrphans()
    } catch (error) {
      // The next wake or poll looks again.
      logger.warn('the runs of other processes could not be read', { error })
    }
  }

  async function lookInto(sessionId: string): Promise<void> {
    const open = await store.runs.open(sessionId)
    for (const run of open) {
      if (!run.cancelRequested) continue
      const stop = active.get(run.id)?.stop ?? starting.get(run.id)?.stop
      if (stop === undefined || stop.signal.aborted) continue
      const why = await requestedStop(store, run.id)
      if (why !== null) stop.abort(why)
    }
    if (draining) return
    const [first] = open
    const isGivenBack = first?.status === 'running' && first.leaseOwner === null
    if (isGivenBack) await recoverOne(first)
    else await startNext(sessionId)
  }

  async function runsElsewhere(sessionId: string): Promise<boolean> {
    return (await store.runs.open(sessionId)).some(({ id, status }) => status === 'running' && !active.has(id))
  }

  /** Resolves when a run of the session has changed somewhere, and after a while in any case. */
  async function change(sessionId: string): Promise<void> {
    const heard = new AbortController()
    const member = wake.join('runs', (id) => {
      if (id === null || id === sessionId) heard.abort()
    })
    await sleep(clock, LOOK_MS, heard.signal)
    member.leave()
  }

  return {
    leaseOwner,
    get active() {
      return active.size
    },
    get queued() {
      return queued.size
    },
    finished,
    tokens,
    get draining() {
      return draining
    },
    ended: ended.signal,

    execute: (record, session) => run(record, session, createRunWriter({ log, clock, middleware }, record)),
    expect(runId) {
      queued.add(runId)
      const settle = prepare(runId)
      return (isQueued) => {
        settle()
        if (!isQueued) queued.delete(runId)
      }
    },
    startNext,

    stop({ id, sessionId }, why) {
      const entry = active.get(id)
      if (entry === undefined) {
        starting.get(id)?.stop.abort(why)
        queued.delete(id)
        otherEngines.notify(sessionId)
        return false
      }
      entry.stop.abort(why)
      return true
    },

    async settled(sessionId) {
      const here = [...active.values()].filter(({ run }) => run.sessionId === sessionId)
      await Promise.all(here.map((entry) => entry.done))
      if (await runsElsewhere(sessionId)) await change(sessionId)
    },

    async recover() {
      await lease.keep()
      await takeOverOrphans()
    },

    async drain(ms, how = { crashed: false }) {
      draining = true
      crashed = how.crashed
      const allDone = () => Promise.all([...active.values()].map((entry) => entry.done))
      if (!crashed) for (const entry of active.values()) noteStopping(entry)
      await Promise.race([allDone(), sleep(clock, ms)])
      for (const entry of active.values()) {
        // Nobody may ever come back for an answer that was read live; a background run has its reader later.
        const why: Stop =
          entry.run.origin === 'reader'
            ? {
                kind: 'failed',
                code: 'interrupted',
                message: 'The server was stopped before the answer was complete. Ask again.',
              }
            : { kind: 'suspended' }
        entry.stop.abort(why)
      }
      await Promise.race([allDone(), sleep(clock, 2_000)])
      ended.abort()
    },

    async close() {
      lease.stop()
      otherEngines.leave()
      ended.abort()
    },
  }
}
