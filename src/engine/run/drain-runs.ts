// How a process that stops parts with its runs: they end, or other processes go on with them.

import { sleep } from '../../domain/clock.ts'
import type { PassingMap } from '../../domain/passing.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { EngineParts } from '../create-engine.ts'
import { runLogger } from './run-log.ts'
import type { Stop } from './run-scope.ts'
import { isFenced, isStorageTrouble, type RunWriter } from './run-writer.ts'

export interface Executing {
  run: RunRecord
  writer: RunWriter
  stop: AbortController
  done: Promise<void>
}

type DrainDeps = Pick<EngineParts, 'store' | 'log' | 'clock' | 'logger' | 'isOnlyProcess' | 'isAlone'>

/** How long runs have to stop once they are told to. */
const STOP_MS = 2_000
/** A short run ends here rather than elsewhere. */
const FINISH_MS = 2_000
/** How often a process that stops tries to give a run back, and looks how far its former runs are elsewhere. */
const FORMER_LOOK_MS = 250

/** `executing` are the runs that execute now. */
export function createDrain(executing: Pick<PassingMap<string, Executing>, 'values' | 'size'>, deps: DrainDeps) {
  const { store, log, clock, logger, isOnlyProcess, isAlone } = deps
  let crashed = false
  let isLeaving = false
  /** Runs that were given back, so that another process goes on with them. */
  const former = new Set<string>()

  /** The run is suspended, and other processes may go on with it. */
  async function giveBack({ id: runId, fence }: RunRecord): Promise<void> {
    // The next owner counts a run that is not given back as one whose process died.
    if (crashed) return
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
    /** True: runs are to be given back between two steps. */
    get isLeaving() {
      return isLeaving
    },
    giveBack,
    /**
     * Lets the runs work for `ms`. On a store of several processes it then gives all of them back, and most of them earlier: between
     * two steps. Otherwise it ends those that were read live and gives the others back.
     */
    async drain(ms: number, how: { crashed: boolean }): Promise<void> {
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
