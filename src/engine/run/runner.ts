// Decides which runs this process executes: one at a time per session, the next one when it ends, and those of processes that died.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { createLocalWake, type Wake } from '../../log/wake.ts'
import type { Store } from '../../store/store.ts'
import type { Middleware } from '../middleware/middleware.ts'
import { createLease } from '../recovery/lease.ts'
import { createRecovery, type Recovery } from '../recovery/recover-runs.ts'
import { createExecutingRuns, type ExecutingRuns, type ExecutingRunsDeps } from './executing-runs.ts'
import { requestedStop } from './run-entries.ts'
import type { Stop } from './run-scope.ts'
import { queuedRunStart } from './run-start.ts'
import { createRunWriter } from './run-writer.ts'

export interface Runner {
  readonly leaseOwner: string
  readonly active: number
  readonly queued: number
  readonly finished: Readonly<Record<string, number>>
  readonly tokens: Readonly<{ input: number; output: number }>
  readonly draining: boolean
  /** Aborts when this process shows nothing more: readers must go elsewhere. */
  readonly ended: AbortSignal
  /** Executes a run that the store gave to this process. */
  execute(run: RunRecord, session: SessionRecord): void
  /**
   * Call this before a run is accepted: others may begin it, or tell it to stop, before the caller hears that it was accepted.
   * Call the returned function after that, with whether the run was queued. A run that was not queued is executed before that.
   */
  expect(runId: string): (isQueued: boolean) => void
  /** Starts the first queued run of the session, if nothing keeps it waiting. */
  startNext(sessionId: string): Promise<void>
  /** False when the run does not execute here. Its owner is then told to look for a request to stop in the store. */
  stop(run: Pick<RunRecord, 'id' | 'sessionId'>, why: Stop): boolean
  /** Resolves when no run of the session executes here. Gives another process a moment to stop one that executes there. */
  settled(sessionId: string): Promise<void>
  /** Takes over the runs that dead processes left behind. */
  recover(): Promise<void>
  /** `crashed`: what is cut off is not given back, so that the next owner counts it as a death. */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

interface RunnerDeps extends Omit<ExecutingRunsDeps, 'onAbandoned' | 'onEnded'> {
  store: Pick<Store, 'entries' | 'sessions' | 'messages' | 'runs' | 'waits' | 'files'>
  middleware: Middleware | null
  /** Left out: no other process uses the store. */
  wake?: Wake
  /** No other process can use the store, so the owners of all other runs are dead. */
  isOnlyProcess: boolean
}

export function createRunner(deps: RunnerDeps): Runner {
  const { store, clock } = deps
  const wake = deps.wake ?? createLocalWake({ clock, pollMs: null })
  const lease = createLease(deps)
  const leaseOwner = lease.owner
  const queued = new Set<string>()
  const ended = new AbortController()
  let draining = false

  const runs = createExecutingRuns({
    ...deps,
    onAbandoned: (run) => recovery.abandon(run),
    async onEnded({ sessionId }) {
      otherEngines.notify(sessionId)
      await startNext(sessionId)
    },
  })
  const isDraining = () => draining
  const { begin, startNext } = createStarts({
    ...deps,
    leaseOwner,
    runs,
    queued,
    isDraining,
    onStarted: (sessionId) => otherEngines.notify(sessionId),
    onAbandoned: (run) => recovery.abandon(run),
  })
  const recovery = createRecovery({ ...deps, leaseOwner, runs, begin, startNext, isDraining })
  const look = createLook({ ...deps, runs, queued, isDraining, recovery, startNext })
  const otherEngines = wake.join('runs', (sessionId) => void look(sessionId))

  return {
    leaseOwner,
    get active() {
      return runs.size
    },
    get queued() {
      return queued.size
    },
    finished: runs.finished,
    tokens: runs.tokens,
    get draining() {
      return draining
    },
    ended: ended.signal,

    execute: (run, session) => runs.execute(run, session, createRunWriter(deps, run)),
    expect(runId) {
      queued.add(runId)
      const settle = runs.prepare(runId)
      return (isQueued) => {
        settle()
        if (!isQueued) queued.delete(runId)
      }
    },
    startNext,

    stop({ id, sessionId }, why) {
      if (runs.stop(id, why)) return true
      queued.delete(id)
      otherEngines.notify(sessionId)
      return false
    },

    async settled(sessionId) {
      await runs.settled(sessionId)
      if (await isExecutedElsewhere(store, runs, sessionId)) await nextChange(wake, clock, sessionId)
    },

    async recover() {
      await lease.keep()
      await recovery.recoverAll()
    },

    async drain(ms, how = { crashed: false }) {
      draining = true
      await runs.drain(ms, how)
      ended.abort()
    },

    async close() {
      lease.stop()
      otherEngines.leave()
      ended.abort()
    },
  }
}

interface StartsDeps extends Pick<RunnerDeps, 'store' | 'log' | 'clock' | 'logger' | 'middleware'> {
  leaseOwner: string
  runs: Pick<ExecutingRuns, 'prepare' | 'execute'>
  queued: Set<string>
  isDraining: () => boolean
  onStarted: (sessionId: string) => void
  /** Called when a run was started, but does not execute. */
  onAbandoned: (run: RunRecord) => void
}

interface Starts {
  /** Starts this queued run. Throws `conflict` when it was started or cancelled in the meantime. */
  begin(run: RunRecord): Promise<void>
  startNext: Runner['startNext']
}

function createStarts(deps: StartsDeps): Starts {
  const { store, log, clock, logger, middleware, leaseOwner, runs, queued, isDraining, onStarted, onAbandoned } = deps

  async function startNext(sessionId: string): Promise<void> {
    while (!isDraining()) {
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

  async function begin(run: RunRecord): Promise<void> {
    const session = await store.sessions.get(run.sessionId)
    if (session === null) return
    const now = Math.max(clock.now(), session.lastActivity)
    const start = await queuedRunStart(store, run, session, now, middleware)
    const settle = runs.prepare(run.id)
    let started: RunRecord | null = null
    try {
      const done = await log.commit({ type: 'start_run', runId: run.id, leaseOwner, now, start })
      queued.delete(run.id)
      started = done.run ?? run
      onStarted(session.id)
      const current = (await store.sessions.get(session.id)) ?? session
      runs.execute(started, current, createRunWriter(deps, started))
    } catch (error) {
      if (started !== null) onAbandoned(started)
      throw error
    } finally {
      settle()
    }
  }

  return { begin, startNext }
}

interface LookDeps extends Pick<RunnerDeps, 'store' | 'logger'>, Pick<Starts, 'startNext'> {
  runs: Pick<ExecutingRuns, 'sessions' | 'canStop' | 'stop'>
  queued: Set<string>
  isDraining: () => boolean
  recovery: Pick<Recovery, 'recover' | 'recoverAll'>
}

/** Looks at the runs of a session that another process has changed; null: it may have changed runs of any session. */
function createLook(deps: LookDeps): (sessionId: string | null) => Promise<void> {
  const { store, logger, runs, queued, isDraining, recovery, startNext } = deps

  async function lookInto(sessionId: string): Promise<void> {
    const open = await store.runs.open(sessionId)
    for (const { id, status, cancelRequested } of open) {
      if (status !== 'queued') queued.delete(id)
      const why = cancelRequested && runs.canStop(id) ? await requestedStop(store, id) : null
      if (why !== null) runs.stop(id, why)
    }
    const [first] = open
    const isGivenBack = first?.status === 'running' && first.leaseOwner === null
    if (isGivenBack && !isDraining()) await recovery.recover(first)
    else await startNext(sessionId)
  }

  return async (sessionId) => {
    try {
      if (sessionId !== null) return await lookInto(sessionId)
      for (const id of runs.sessions()) await lookInto(id)
      for (const id of [...queued]) if ((await store.runs.get(id))?.status !== 'queued') queued.delete(id)
      await recovery.recoverAll()
    } catch (error) {
      // The next wake or poll looks again.
      logger.warn('the runs of other processes could not be read', { error })
    }
  }
}

async function isExecutedElsewhere(
  store: Pick<Store, 'runs'>,
  runs: Pick<ExecutingRuns, 'has'>,
  sessionId: string,
): Promise<boolean> {
  return (await store.runs.open(sessionId)).some(({ id, status }) => status === 'running' && !runs.has(id))
}

/** How long to wait for news from another process before looking without them. */
const LOOK_MS = 1_000

/** Resolves when a run of the session has changed somewhere, and after a second in any case. */
async function nextChange(wake: Wake, clock: Clock, sessionId: string): Promise<void> {
  const heard = new AbortController()
  const member = wake.join('runs', (id) => {
    if (id === null || id === sessionId) heard.abort()
  })
  await sleep(clock, LOOK_MS, heard.signal)
  member.leave()
}
