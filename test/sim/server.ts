// The machine that the server under test runs on. The process can be killed, cut from power, restarted in order, and fail to
// start; the disk can be full, slow, or fail to sync. When a life ends, another one begins soon.

import { ServerError } from '../../src/domain/errors.ts'
import type { RunRecord } from '../../src/domain/session/run.ts'
import { type AssembleDeps, assemble, type Serving } from './assemble.ts'
import { lostSeqs } from './disk-history.ts'
import type { History, Life } from './history.ts'
import { crash, createMemoryDisk, type Keep, type MemoryDisk } from './memory/memory-disk.ts'
import { createMemoryStore, type StorageFaults } from './memory/memory-store.ts'
import { createProcess, type Wall } from './process.ts'
import type { Random } from './random.ts'

export interface Server {
  /** The life that takes requests, or null while there is none. */
  readonly serving: Serving | null
  readonly disk: MemoryDisk
  boot(): void
  /** Ends the life at once, if there is one. */
  kill(how: 'killed' | 'power cut'): void
  /** Orderly: no new work, drain, close. */
  restart(): void
  /** The disk has no room until this is called with false. */
  fill(full: boolean): void
  /** One round of housekeeping, out of turn. */
  sweep(): void
  /** The runs that nobody sees to. */
  orphans(): Promise<RunRecord[]>
  /** What each process that serves counts. */
  stats(): ServerStats[]
}

export interface ServerStats {
  activeRuns: number
  queuedRuns: number
  readers: number
  watchers: number
}

export interface ServerDeps extends AssembleDeps {
  random: Random
  wall: Wall
}

/** A server that could not start is started again by whoever watches it. */
const RESTART_MS = 1_000
/** After the drain time, runs that ignore their signal are given two seconds. */
export const DRAIN_SLACK_MS = 2_100
/** A process that serves for so long has shown something, and its first sync may still be under way. */
const SHORT_LIFE_MS = 300

export function createServer(deps: ServerDeps): Server {
  const { kernel, random, faults, history, wall, isCalm, mutant } = deps
  const offer = (given: MemoryDisk): MemoryDisk => mutant?.disk?.(given) ?? given
  let disk = offer(createMemoryDisk())
  let isFull = false
  let lives = 0
  let current: { serving: Serving; life: Life; isReady: boolean } | null = null

  function storageFaults(draw: Random): StorageFaults {
    const kills = draw.fork('kills')
    return ({ kind }) => {
      if (kind === 'commit') {
        if (isFull) throw new ServerError('storage_full', 'The disk is full.')
        return undefined
      }
      if (!isCalm() && draw.chance(faults.disk.syncFails)) {
        kernel.trace('a sync fails')
        if (mutant?.ignoresSyncFailure === undefined) {
          endWithin(0, 'sync failed', takePower(draw))
          throw new ServerError('storage_failed', 'The disk did not sync.')
        }
        mutant.ignoresSyncFailure(disk)
      }
      const [min, max] = isCalm() ? [1, 2] : faults.disk.syncMs
      const delayMs = min + draw.float() * (max - min)
      const cuts = !isCalm() && draw.chance(faults.process.cutsInSync)
      if (cuts) endWithin(draw.float() * delayMs, 'power cut', takePower(random))
      const dies = !isCalm() && current?.isReady === true && kills.chance(faults.process.killsBeforeCuts)
      if (dies) endWithin(kills.float() * delayMs, 'killed', 'written')
      return { delayMs }
    }
  }

  /** All that was synced, and what happened to be written out of the rest. */
  const takePower =
    (draw: Random): Keep =>
    (unsynced) =>
      draw.chance(0.5) ? 0 : draw.below(unsynced + 1)

  /** Ends this life, if it still lives by then. */
  function endWithin(ms: number, how: NonNullable<Life['end']>, keep: Keep): void {
    const { life } = current ?? {}
    kernel.after(ms, () => {
      if (life !== undefined && current?.life === life) end(how, keep)
    })
  }

  function boot(): void {
    if (current !== null) return
    lives += 1
    const process = createProcess(kernel, wall, lives)
    const before = history.lives.at(-1)
    const life: Life = { number: lives, from: kernel.time, readyAt: null, to: null, isDraining: false, end: null }
    history.lives.push(life)
    const draw = random.fork(`life ${lives}`)
    const cuts = draw.fork('cuts')
    const inner = createMemoryStore({ disk, clock: process.clock, faults: storageFaults(draw.fork('disk')) })
    // What a killed process left with the kernel is shown from now on, so opening syncs it.
    if (mutant?.opensUnsynced !== true) disk.synced = disk.batches.length
    const serving = assemble(deps, process, inner, draw)
    const here = { serving, life, isReady: false }
    current = here
    kernel.trace(`life ${lives} begins`)
    if (!isCalm() && draw.chance(faults.process.inRecovery)) {
      const how = draw.chance(faults.process.powerCuts) ? 'power cut' : 'killed'
      endWithin(draw.float() * 80, how, keepAfter(how))
    }
    serving.engine.recover().then(
      () => {
        if (!process.alive) return
        here.isReady = true
        life.readyAt = kernel.time
        const loses = !isCalm() && before?.end === 'killed' && faults.process.killsBeforeCuts > 0
        if (loses) endWithin(cuts.float() * SHORT_LIFE_MS, 'power cut', 'synced')
        serving.janitor.start()
        serving.elsewhere?.recover().catch((error: unknown) => complain(history, 'start', error))
        kernel.trace(`life ${life.number} serves`)
      },
      (error: unknown) => {
        if (!process.alive) return
        if (!(error instanceof ServerError)) history.findings.push({ checker: 'start', message: String(error) })
        end('start failed', 'written')
      },
    )
  }

  function end(how: NonNullable<Life['end']>, keep: Keep): void {
    if (current === null) return
    const { serving, life } = current
    current = null
    serving.process.kill()
    life.to = kernel.time
    life.end = how
    const before = disk
    disk = offer(crash(before, { keep }))
    kernel.trace(`life ${life.number} ends: ${how}`)
    if (how !== 'killed' && disk.batches.length < before.batches.length) {
      history.powerCuts.push({ at: kernel.time, lost: lostSeqs(before, disk) })
    }
    kernel.after(how === 'start failed' ? RESTART_MS : random.float() * 1_000, boot)
  }

  const keepAfter = (how: 'killed' | 'power cut'): Keep =>
    how === 'power cut' || mutant?.killTakesUnsynced === true ? takePower(random) : 'written'

  async function stopInOrder({ janitor, engine, close, log, inner }: Serving): Promise<void> {
    const asked = kernel.time
    const { drainMs } = faults.process
    janitor.stop()
    await engine.drain(drainMs)
    const took = kernel.time - asked
    if (took > drainMs + DRAIN_SLACK_MS) {
      history.findings.push({ checker: 'drain', message: `Draining for ${drainMs} ms took ${took} ms.` })
    }
    await engine.close()
    await close()
    await log.close()
    await inner.close()
    end('restarted', 'written')
  }

  return {
    get serving() {
      return current?.isReady === true ? current.serving : null
    },
    get disk() {
      return disk
    },
    boot,
    kill: (how) => end(how, keepAfter(how)),

    restart() {
      if (current?.isReady !== true) return
      kernel.trace(`life ${current.life.number} is asked to end`)
      current.life.isDraining = true
      stopInOrder(current.serving).catch((error: unknown) =>
        history.findings.push({ checker: 'drain', message: String(error) }),
      )
    },

    fill(now) {
      if (isFull === now) return
      isFull = now
      const last = history.diskFull.at(-1)
      if (now) history.diskFull.push({ from: kernel.time, to: Number.POSITIVE_INFINITY })
      else if (last !== undefined) last.to = kernel.time
      kernel.trace(now ? 'the disk is full' : 'the disk has room')
    },

    sweep() {
      if (current?.isReady !== true) return
      current.serving.janitor.sweep().catch((error: unknown) => complain(history, 'janitor', error))
    },

    // In the eyes of time 0 every lease is live.
    orphans: async () => (current?.isReady === true ? current.serving.inner.runs.orphans(0, 100) : []),
    stats() {
      if (current?.isReady !== true) return []
      const { engine, log } = current.serving
      return [{ ...engine.stats(), watchers: log.watchers }]
    },
  }
}

/** An error that the server does not know is a finding. */
export function complain(history: History, checker: string, error: unknown): void {
  if (!(error instanceof ServerError)) history.findings.push({ checker, message: String(error) })
}
