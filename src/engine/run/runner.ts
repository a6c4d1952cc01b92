// Decides which runs this process executes: one at a time per session, the next one when it ends, and those of processes that died.

import { type Clock, sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import { PassingSet } from '../../domain/passing.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { Wake } from '../../log/wake.ts'
import type { Store } from '../../store/store.ts'
import type { EngineParts } from '../create-engine.ts'
import { createLease } from '../recovery/lease.ts'
import { createLeftRuns } from '../recovery/left-runs.ts'
import { createRecovery, type Recovery } from '../recovery/recover-runs.ts'
import { createExecutingRuns, type ExecutingRuns } from './executing-runs.ts'
import { requestedStop } from './run-entries.ts'
import type { Stop } from './run-scope.ts'
import { queuedRunStart } from './run-start.ts'
import { createRunWriter } from './run-writer.ts'
import { stopsIfUnread } from './stops-if-unread.ts'

export interface Runner extends Pick<ExecutingRuns, 'finished' | 'tokens'>, Pick<Recovery, 'takenOver'> {
  readonly leaseOwner: string
  readonly active: number
  readonly queued: number
  readonly draining: boolean
  /** This process shows nothing more: readers must go elsewhere. */
  readonly hasEnded: boolean
  /** Calls `close` when that happens, until the returned function is called. */
  onEnd(close: () => void): () => void
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
  /** Stops a run that a reader started if all its readers have left. The process that executes the run decides. */
  stopIfUnread(run: Pick<RunRecord, 'id' | 'sessionId'>): void
  /** Resolves when no run of the session executes here. Gives another process a moment to stop one that executes there. */
  settled(sessionId: string): Promise<void>
  /** Takes over the runs that dead processes left behind. */
  recover(): Promise<void>
  /** `crashed`: what is cut off is not given back, so that the next owner counts it as a death. */
  drain(ms: number, how?: { crashed: boolean }): Promise<void>
  close(): Promise<void>
}

export function createRunner(deps: EngineParts): Runner {
  const { store, wake, clock, leaseOwner } = deps
  const lease = createLease(deps)
  const queued = new Set<string>()
  const readers = new PassingSet<() => void>()
  let hasEnded = false
  function end(): void {
    hasEnded = true
    for (const close of [...readers]) close()
  }
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
  const isLeft = createLeftRuns(deps)
  const { begin, startNext } = createStarts({
    ...deps,
    runs,
    queued,
    isDraining,
    isLeft,
    onStarted: (sessionId) => otherEngines.notify(sessionId),
    onAbandoned: (run) => recovery.abandon(run),
  })
  const canTakeOver = () => deps.isOnlyProcess || lease.isSteady
  const recovery = createRecovery({ ...deps, runs, begin, startNext, isDraining, canTakeOver, isLeft })
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
    takenOver: recovery.takenOver,
    get draining() {
      return draining
    },
    get hasEnded() {
      return hasEnded
    },
    onEnd(close) {
      readers.add(close)
      return () => readers.delete(close)
    },

    execute: (run, session) => runs.execute(run, session, createRunWriter(deps, run), null),
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

    stopIfUnread({ id, sessionId }) {
      if (!runs.stopIfUnread(id)) otherEngines.notify(sessionId)
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
      end()
    },

    async close() {
      lease.stop()
      otherEngines.leave()
      end()
    },
  }
}

interface StartsDeps extends EngineParts {
  runs: Pick<ExecutingRuns, 'prepare' | 'execute'>
  queued: Set<string>
  isDraining: () => boolean
  isLeft: (run: RunRecord) => boolean
  onStarted: (sessionId: string) => void
  /** Called when a run was started, but does not execute. */
  onAbandoned: (run: RunRecord) => void
}

function createStarts(deps: StartsDeps) {
  const { store, log, clock, logger, middleware, leaseOwner } = deps
  const { runs, queued, isDraining, isLeft, onStarted, onAbandoned } = deps

  async function startNext(sessionId: string): Promise<void> {
    while (!isDraining()) {
      try {
        const open = await store.runs.open(sessionId)
        const next = open[0]
        // A continuation is taken before what was queued ahead of it.
        if (next !== undefined && open.every((one) => one.status === 'queued') && !isLeft(next)) await begin(next)
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

  /** Starts this queued run. Throws `conflict` when it was started or cancelled in the meantime. */
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
      runs.execute(started, current, createRunWriter(deps, started), null)
    } catch (error) {
      if (started !== null) onAbandoned(started)
      throw error
    } finally {
      settle()
    }
  }

  return { begin, startNext }
}

interface LookDeps extends Pick<EngineParts, 'store' | 'clock' | 'logger' | 'leaseOwner'>, Pick<Runner, 'startNext'> {
  runs: Pick<ExecutingRuns, 'list' | 'isExpected' | 'canStop' | 'stop' | 'stopIfUnread' | 'lose'>
  queued: Set<string>
  isDraining: () => boolean
  recovery: Pick<Recovery, 'abandon' | 'recover' | 'recoverAll'>
}

/** The runs of dead processes are looked for at every second poll: every two seconds, also if one poll comes a little early. */
const ORPHANS_EVERY_MS = 1_500
/** How many queued runs are looked at in one round. They are only counted, so being late does no harm. */
const QUEUED_AT_ONCE = 20
const MOST_HEARD_OF = 1_000
/** A round that hangs must not keep the next ones from beginning for ever. */
const LONGEST_ROUND_MS = 10_000

/** Looks at the runs of a session that another process has changed; null: it may have changed runs of any session. */
function createLook(deps: LookDeps): (sessionId: string | null) => Promise<void> {
  const { store, clock, logger, leaseOwner, runs, queued, isDraining, recovery, startNext } = deps
  let roundBegan: number | null = null
  let orphansAt = Number.NEGATIVE_INFINITY
  let idle = new Set<string>()
  const heardOf = new Set<string>()

  async function lookInto(sessionId: string): Promise<void> {
    const open = await store.runs.open(sessionId)
    // Most often, another process has finished the only run.
    if (open.length === 0) return
    for (const { id, status, fence, cancelRequested } of open) {
      if (status !== 'queued') queued.delete(id)
      runs.lose(id, fence)
      if (cancelRequested) await stopAsRequested(id)
    }
    const [first] = open
    if (first !== undefined) makeWay(first, open)
    const isGivenBack = first?.status === 'running' && first.leaseOwner === null
    if (isGivenBack && !isDraining()) await recovery.recover(first)
    else await startNext(sessionId)
  }

  /** Another process has taken a message behind a run that executes here. */
  function makeWay(first: RunRecord, open: readonly RunRecord[]): void {
    const waiting = open.filter((run) => stopsIfUnread(run, first))
    // Each message is heard of once: one that began to wait while somebody read the run stops nothing later.
    const isNew = waiting.some(({ id }) => !heardOf.has(id))
    for (const { id } of waiting) heardOf.add(id)
    while (heardOf.size > MOST_HEARD_OF) heardOf.delete([...heardOf.keys()][0] ?? '')
    if (isNew) runs.stopIfUnread(first.id)
  }

  async function stopAsRequested(runId: string): Promise<void> {
    const why = runs.canStop(runId) ? await requestedStop(store, runId) : null
    if (why !== null) runs.stop(runId, why)
  }

  /** One question for all runs that execute here: were they cancelled, or taken over while this process was paused? */
  async function lookAtOwn(): Promise<void> {
    const executing = runs.list()
    const stored = await store.runs.owned(leaseOwner)
    const byId = new Map(stored.map((run) => [run.id, run]))
    for (const { id } of executing) {
      const run = byId.get(id) ?? (await store.runs.get(id))
      if (run === null) continue
      runs.lose(id, run.fence)
      if (run.cancelRequested) await stopAsRequested(id)
    }
    // The store gave us a run and we never heard of it. Twice, because it may be about to begin.
    const unknown = stored.filter(({ id }) => !runs.isExpected(id))
    for (const run of unknown) if (idle.has(run.id)) recovery.abandon(run)
    idle = new Set(unknown.map(({ id }) => id))
  }

  async function lookAtQueued(): Promise<void> {
    for (const id of [...queued].slice(0, QUEUED_AT_ONCE)) {
      queued.delete(id)
      if ((await store.runs.get(id))?.status === 'queued') queued.add(id)
    }
  }

  async function lookAtAll(): Promise<void> {
    const now = clock.mono()
    if (roundBegan !== null && now - roundBegan < LONGEST_ROUND_MS) return
    roundBegan = now
    try {
      await lookAtOwn()
      await lookAtQueued()
      if (now < orphansAt) return
      orphansAt = now + ORPHANS_EVERY_MS
      await recovery.recoverAll()
    } finally {
      if (roundBegan === now) roundBegan = null
    }
  }

  return async (sessionId) => {
    try {
      await (sessionId === null ? lookAtAll() : lookInto(sessionId))
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
