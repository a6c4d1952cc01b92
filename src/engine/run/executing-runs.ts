// The runs that execute in this process, each from the moment it is given to us until its last event is written.

import type { ErrorCode } from '../../domain/errors.ts'
import { PassingMap } from '../../domain/passing.ts'
import type { WaitAnswer } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { EngineParts } from '../create-engine.ts'
import { createDrain, type Executing } from './drain-runs.ts'
import { executeRun, type Outcome, type Resumption } from './execute-run.ts'
import { stoppedEnd } from './run-end.ts'
import { logUnexecutedEnd, runLogger } from './run-log.ts'
import { type AgentParts, type Stop, withTriedModel } from './run-scope.ts'
import { isFenced, type RunWriter } from './run-writer.ts'

export interface ExecutingRuns extends Pick<ReturnType<typeof createDrain>, 'drain'> {
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
  execute(run: RunRecord, session: SessionRecord, writer: RunWriter, resumption: Resumption | null): void
  /** True when the run executes here or is about to, and has not been told to stop yet. */
  canStop(runId: string): boolean
  /** Stops the run if a reader started it and all its readers have left. False when it does not execute here. */
  stopIfUnread(runId: string): boolean
  /** False when the run does not execute here. One that is about to is stopped all the same. */
  stop(runId: string, why: Stop): boolean
  /** Stops the run if it executes here under an older fence: another process has taken it over. */
  lose(runId: string, fence: number): void
  /** Resolves when the runs of the session that execute now have ended. */
  settled(sessionId: string): Promise<void>
}

export interface ExecutingRunsDeps extends EngineParts {
  /** Called when a run could not be ended: it is still ours, and nobody works on it. */
  onAbandoned: (run: RunRecord) => void
  /** Called when a run does not execute here any more, whatever the reason. */
  onEnded: (run: RunRecord) => Promise<void>
}

export function createExecutingRuns(deps: ExecutingRunsDeps): ExecutingRuns {
  const { agents, store, log, clock, ids, logger, telemetry, presence, gate, files, limits, isOnlyProcess } = deps
  const { onAbandoned, onEnded, versions, prices, summaries, memories } = deps
  const executing = new PassingMap<string, Executing>()
  const leaving = createDrain(executing, deps)
  /** Two parts may try to begin the same run. They share what stops it, so that the one that fails does not take it away. */
  const starting = new PassingMap<string, { stop: AbortController; holders: number }>()
  const finished: Record<string, number> = {}
  const tokens = { input: 0, output: 0 }
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

  function execute(run: RunRecord, session: SessionRecord, writer: RunWriter, resumption: Resumption | null): void {
    const stop = starting.get(run.id)?.stop ?? new AbortController()
    const entry: Executing = { run, writer, stop, done: Promise.resolve() }
    executing.set(run.id, entry)
    entry.done = live(entry, session, resumption)
  }

  async function live(
    { run, writer, stop }: Executing,
    session: SessionRecord,
    resumption: Resumption | null,
  ): Promise<void> {
    const detach = attend(run, stop)
    try {
      const outcome = await work(run, session, writer, stop, resumption)
      if (outcome === 'suspended') await leaving.giveBack(run)
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
    if (origin !== 'reader') return () => {}
    const graceMs = limits.disconnectGraceMs ?? Number.POSITIVE_INFINITY
    const why: Stop = { kind: 'cancelled', by: 'its readers leaving' }
    return presence.attend({ sessionId, runId, graceMs }, () => stop.abort(why))
  }

  async function work(
    run: RunRecord,
    session: SessionRecord,
    writer: RunWriter,
    stop: AbortController,
    resumption: Resumption | null,
  ): Promise<Outcome> {
    const served = agents.get(run.agent)
    const agent = served === undefined ? null : withTriedModel(served, run.input.model)
    // Somebody answered here what an agent of another server asked. A run that comes from there was left alone for long enough.
    if (agent === null && !isOnlyProcess && resumption === null) return 'suspended'
    if (agent === null) {
      const why = { kind: 'failed', ...missing(run, served === undefined) } as const
      await writer.finish(stoppedEnd(why, { run, session, usage: [], timestamp: writer.timestamp() }, []))
      logUnexecutedEnd(logger, run, 'failed', { error: why })
      return 'failed'
    }
    const all = agent === served ? agents : withTrying(run, agent, session.activeAgent)
    const { outcome, usage } = await executeRun(
      {
        ...{
          store,
          clock,
          ids,
          log: runLogger(logger, run),
          telemetry,
          gate,
          settle,
          agents: all,
          prices,
          versions,
          summaries,
          memories,
        },
        fileSource: files,
      },
      { root: agent, run, session, writer, stop, isLeaving: () => leaving.isLeaving, resumption },
    )
    for (const one of usage) {
      tokens.input += one.inputTokens ?? 0
      tokens.output += one.outputTokens ?? 0
    }
    return outcome
  }

  /** The agents, of which the one of the run and the one that has the conversation try the model. The latter may have it as its own. */
  function withTrying({ agent, input }: RunRecord, trying: AgentParts, activeAgent: string | null) {
    const all = new Map(agents).set(agent, trying)
    const holder = activeAgent === null || activeAgent === agent ? undefined : agents.get(activeAgent)
    if (activeAgent === null || holder === undefined) return all
    return all.set(activeAgent, withTriedModel(holder, input.model) ?? holder)
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

    stopIfUnread(runId) {
      const sessionId = executing.get(runId)?.run.sessionId
      if (sessionId !== undefined) presence.hurry(sessionId, runId)
      return sessionId !== undefined
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

    drain: leaving.drain,
  }
}

const missing = ({ agent, input }: RunRecord, isAgent: boolean): { code: ErrorCode; message: string } =>
  isAgent
    ? { code: 'agent_not_found', message: `The agent ${agent} is no longer served here.` }
    : {
        code: 'model_not_found',
        message: `This run was to try ${input.model}, and try_models in the settings does not name that model any more. Ask again without it, or name it there and start the server again.`,
      }

const LOST: Stop = { kind: 'lost' }
