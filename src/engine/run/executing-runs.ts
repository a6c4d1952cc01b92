// The runs that execute in this process, each from the moment it is given to us until its last event is written.

import type { Clock } from '../../domain/clock.ts'
import { sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Telemetry } from '../../domain/telemetry.ts'
import type { WaitAnswer } from '../../domain/wait.ts'
import type { SessionLog } from '../../log/session-log.ts'
import type { Store } from '../../store/store.ts'
import type { Files } from '../files-port.ts'
import type { Gate } from '../gate.ts'
import { createPriceList } from '../loop/budget.ts'
import type { Presence } from '../sessions/presence.ts'
import { executeRun, type Outcome, type Resumption } from './execute-run.ts'
import { stoppedEnd } from './run-end.ts'
import { logUnexecutedEnd, runLogger } from './run-log.ts'
import type { AgentParts, Stop } from './run-scope.ts'
import { isStorageTrouble, type RunWriter } from './run-writer.ts'

export interface ExecutingRuns {
  readonly size: number
  /** How many runs have ended, by outcome. */
  readonly finished: Readonly<Record<string, number>>
  readonly tokens: Readonly<{ input: number; output: number }>
  has(runId: string): boolean
  /** True also while the store is about to give the run to this process. */
  isExpected(runId: string): boolean
  list(): RunRecord[]
  /**
   * The store is about to give a run to this process. From now on it can be told to stop. Call the returned function when it
   * executes, or when it will not.
   */
  prepare(runId: string): () => void
  execute(run: RunRecord, session: SessionRecord, writer: RunWriter, resumption?: Resumption): void
  /** True when the run executes here or is about to, and has not been told to stop yet. */
  canStop(runId: string): boolean
  /** False when the run does not execute here. One that is about to is stopped all the same. */
  stop(runId: string, why: Stop): boolean
  /** Stops the run if it executes here under an older fence: another process has taken it over. */
  lose(runId: string, fence: number): void
  /** Resolves when the runs of the session that execute now have ended. */
  settled(sessionId: string): Promise<void>
  /**
   * Lets the runs work for `ms`. On a store of several processes it then gives all of them back, and most of them earlier: between
   * two steps. Otherwise it ends those that were read live and gives the others back.
   */
  drain(ms: number, how: { crashed: boolean }): Promise<void>
}

export interface ExecutingRunsDeps {
  agents: ReadonlyMap<string, AgentParts>
  store: Pick<Store, 'entries' | 'messages' | 'runs' | 'waits' | 'files'>
  log: SessionLog
  clock: Clock
  ids: Ids
  logger: Logger
  telemetry: Telemetry
  presence: Presence
  gate: Gate
  fileSource: Files | null
  limits: { disconnectGraceMs: number | null }
  /** False: other processes can go on with the runs of this one. */
  isOnlyProcess: boolean
  /** Whether no other process lives that could go on with a run. Left out: nobody knows. */
  isAlone?: () => boolean
  /** Called when a run could not be ended: it is still ours, and nobody works on it. */
  onAbandoned: (run: RunRecord) => void
  /** Called when a run does not execute here any more, whatever the reason. */
  onEnded: (run: RunRecord) => Promise<void>
}

interface Executing {
  run: RunRecord
  writer: RunWriter
  stop: AbortController
  done: Promise<void>
}

/** How long runs have to stop once they are told to. */
const STOP_MS = 2_000
/** A short run ends here rather than elsewhere. */
const FINISH_MS = 2_000
/** How often a process that stops tries to give a run back, and looks how far its former runs are elsewhere. */
const FORMER_LOOK_MS = 250

export function createExecutingRuns(deps: ExecutingRunsDeps): ExecutingRuns {
  const { agents, store, log, clock, ids, logger, telemetry, presence, gate, fileSource, limits, isOnlyProcess } = deps
  const { isAlone = () => isOnlyProcess } = deps
  const { onAbandoned, onEnded } = deps
  const prices = createPriceList([...agents.values()].map(({ definition }) => definition.model))
  const executing = new Map<string, Executing>()
  /** Two parts may try to begin the same run. They share what stops it, so that the one that fails does not take it away. */
  const starting = new Map<string, { stop: AbortController; holders: number }>()
  const finished: Record<string, number> = {}
  const tokens = { input: 0, output: 0 }
  let crashed = false
  let isLeaving = false
  /** Runs that were given back, so that another process goes on with them. */
  const former = new Set<string>()
  const settle = async (answers: readonly WaitAnswer[]) =>
    void (await log.commit({ type: 'settle_waits', answers, now: clock.now() }))

  function prepare(runId: string): () => void {
    const entry = starting.get(runId) ?? { stop: new AbortController(), holders: 0 }
    entry.holders += 1
    starting.set(runId, entry)
    return () => {
      entry.holders -= 1
      if (entry.holders === 0) starting.delete(runId)
    }
  }

  function execute(run: RunRecord, session: SessionRecord, writer: RunWriter, resumption?: Resumption): void {
    const stop = starting.get(run.id)?.stop ?? new AbortController()
    const entry: Executing = { run, writer, stop, done: Promise.resolve() }
    executing.set(run.id, entry)
    entry.done = live(entry, session, resumption)
  }

  async function live(
    { run, writer, stop }: Executing,
    session: SessionRecord,
    resumption?: Resumption,
  ): Promise<void> {
    const detach = attend(run, stop)
    try {
      const outcome = await work(run, session, writer, stop, resumption)
      // The next owner counts a run that is not given back as one whose process died.
      if (outcome === 'suspended' && !crashed) await giveBack(run)
      finished[outcome] = (finished[outcome] ?? 0) + 1
    } catch (error) {
      if (isFenced(error)) finished.lost = (finished.lost ?? 0) + 1
      else {
        onAbandoned(run)
        runLogger(logger, run).error('a run could not be ended; it is recovered later', { error })
      }
    }
    detach()
    executing.delete(run.id)
    await onEnded(run)
  }

  /** Stops a run that a reader started when its readers have left. */
  function attend({ id: runId, sessionId, origin }: RunRecord, stop: AbortController): () => void {
    const { disconnectGraceMs: graceMs } = limits
    if (origin !== 'reader' || graceMs === null) return () => {}
    const why: Stop = { kind: 'cancelled', by: 'its readers leaving' }
    return presence.attend({ sessionId, runId, graceMs }, () => stop.abort(why))
  }

  async function work(
    run: RunRecord,
    session: SessionRecord,
    writer: RunWriter,
    stop: AbortController,
    resumption?: Resumption,
  ): Promise<Outcome> {
    const agent = agents.get(run.agent)
    // Somebody answered here what an agent of another server asked. A run that comes from there was left alone for long enough.
    if (agent === undefined && !isOnlyProcess && resumption === undefined) return 'suspended'
    if (agent === undefined) {
      const message = `The agent ${run.agent} is no longer served here.`
      const why = { kind: 'failed', code: 'agent_not_found', message } as const
      await writer.finish(stoppedEnd(why, run, session, [], [], writer.timestamp()))
      logUnexecutedEnd(logger, run, 'failed', { error: why })
      return 'failed'
    }
    const { outcome, usage } = await executeRun(
      { store, clock, ids, log: runLogger(logger, run), telemetry, gate, settle, agents, prices, fileSource },
      { root: agent, run, session, writer, stop, isLeaving: () => isLeaving, resumption },
    )
    for (const one of usage) {
      tokens.input += one.inputTokens ?? 0
      tokens.output += one.outputTokens ?? 0
    }
    return outcome
  }

  async function giveBack({ id: runId, fence }: RunRecord): Promise<void> {
    const until = clock.mono() + STOP_MS
    for (;;) {
      try {
        await log.commit({ type: 'release_run', runId, fence })
        former.add(runId)
        return
      } catch (error) {
        // Another process has taken it over already.
        if (isFenced(error)) return
        if (isOnlyProcess || !isStorageTrouble(error) || clock.mono() >= until) throw error
        await sleep(clock, FORMER_LOOK_MS)
      }
    }
  }

  /** Whoever told us to stop may lose patience and kill us. The run did not cause that death. */
  function noteStopping({ run, writer }: Executing): void {
    const fact = { fact: 'stopping' as const, run: run.id, at: writer.timestamp() }
    writer.commit({ facts: [fact] }).catch((error: unknown) => {
      // It has just ended.
      if (isFenced(error)) return
      runLogger(logger, run).warn('a run could not be told that the server stops', { error })
    })
  }

  const allDone = () => Promise.all([...executing.values()].map(({ done }) => done))

  /** Other processes go on with what is left, so nothing has to end here and nothing is lost. */
  async function handOver(ms: number): Promise<void> {
    const until = clock.mono() + ms
    await Promise.race([allDone(), sleep(clock, Math.min(ms, FINISH_MS))])
    isLeaving = !isAlone()
    await Promise.race([allDone(), sleep(clock, Math.max(until - clock.mono(), 0))])
    for (const { stop } of executing.values()) stop.abort(SUSPENDED)
    await Promise.race([allDone(), sleep(clock, STOP_MS)])
    // Readers that are here see more of what goes on elsewhere, as long as there is time.
    if (clock.mono() < until) await Promise.race([formerEnded(until), sleep(clock, until - clock.mono())])
  }

  async function formerEnded(until: number): Promise<void> {
    while (former.size > 0 && clock.mono() < until && !isAlone()) {
      for (const id of [...former]) {
        const run = await store.runs.get(id).catch(() => null)
        if (run?.status !== 'running') former.delete(id)
      }
      if (former.size > 0) await sleep(clock, FORMER_LOOK_MS)
    }
  }

  return {
    get size() {
      return executing.size
    },
    finished,
    tokens,
    has: (runId) => executing.has(runId),
    isExpected: (runId) => executing.has(runId) || starting.has(runId),
    list: () => [...executing.values()].map(({ run }) => run),
    prepare,
    execute,

    canStop(runId) {
      const { stop } = executing.get(runId) ?? starting.get(runId) ?? {}
      return stop !== undefined && !stop.signal.aborted
    },

    stop(runId, why) {
      const entry = executing.get(runId)
      const { stop } = entry ?? starting.get(runId) ?? {}
      stop?.abort(why)
      return entry !== undefined
    },

    lose(runId, fence) {
      const { run, stop } = executing.get(runId) ?? {}
      if (run !== undefined && run.fence < fence) stop?.abort(LOST)
    },

    async settled(sessionId) {
      const here = [...executing.values()].filter(({ run }) => run.sessionId === sessionId)
      await Promise.all(here.map(({ done }) => done))
    },

    async drain(ms, how) {
      crashed = how.crashed
      if (!crashed) for (const entry of executing.values()) noteStopping(entry)
      if (!isOnlyProcess && !crashed) return handOver(ms)
      await Promise.race([allDone(), sleep(clock, ms)])
      for (const { run, stop } of executing.values()) stop.abort(run.origin === 'reader' ? CUT_OFF : SUSPENDED)
      await Promise.race([allDone(), sleep(clock, STOP_MS)])
    },
  }
}

/** Nobody may ever come back for an answer that was read live. A background run is read later. */
const CUT_OFF: Stop = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The server was stopped before the answer was complete. Ask again.',
}

const SUSPENDED: Stop = { kind: 'suspended' }
const LOST: Stop = { kind: 'lost' }

const isFenced = (error: unknown): boolean => error instanceof ServerError && error.code === 'run_fenced'
