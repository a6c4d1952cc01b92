// A log on a real SQLite store in memory. The test decides when a commit returns, when its sync is done, and what time it is.

import { onTestFinished } from 'vitest'
import type { Clock } from '../../domain/clock.ts'
import type { Entry } from '../../domain/session/entry.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import { accept, newSession } from '../../store/contract/samples.contract.ts'
import { type Command, needsSync } from '../../store/ports/command.ts'
import type { Committed } from '../../store/ports/journal.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import type { Store } from '../../store/store.ts'
import { createSessionLog, type SessionLogOptions } from '../session-log.ts'
import type { Watcher } from '../watcher.ts'

export interface TestClock extends Clock {
  /** Lets everything happen that waits for no time, then `ms` pass, and what follows from it happen. */
  advance(ms: number): Promise<void>
}

export function createTestClock(): TestClock {
  let time = 0
  const timers = new Set<{ at: number; fire: () => void }>()
  return {
    now: () => time,
    mono: () => time,
    after(ms, fire) {
      const timer = { at: time + ms, fire }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    soon: (fire) => void setImmediate(fire),
    async advance(ms) {
      await settled()
      const end = time + ms
      for (;;) {
        const next = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        timers.delete(next)
        time = next.at
        next.fire()
        await settled()
      }
      time = end
      await settled()
    },
  }
}

/** Everything has happened that does not wait for time to pass. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}

export interface HeldStore {
  store: Store
  /** The commands of each commit, in order. */
  readonly commits: readonly (readonly Command[])[]
  /** How often entries or news were read by now. */
  reads(): number
  /** From now on syncs wait for `sync`; with `false` they no longer do. */
  holdSyncs(isHolding?: boolean): void
  /** Finishes the oldest sync that waits, or the one of this number. */
  sync(which?: number): Promise<void>
  /** From now on a commit is applied, and returns when what is returned here is called. */
  holdCommits(): () => Promise<void>
  /** The next commit fails with this error, and nothing of it is applied. */
  failNext(error: Error): void
}

export function createHeldStore(): HeldStore {
  const inner = openTestStore()
  onTestFinished(() => inner.close())
  const commits: (readonly Command[])[] = []
  const syncs: (() => void)[] = []
  let isHoldingSyncs = false
  let held: Promise<void> = Promise.resolve()
  let failure: Error | null = null
  let reads = 0

  return {
    store: {
      ...inner,
      async commit(commands): Promise<Committed> {
        commits.push(commands)
        const error = failure
        failure = null
        if (error !== null) throw error
        const { results } = await inner.commit(commands)
        const isHeld = isHoldingSyncs && commands.some(needsSync)
        const synced = isHeld ? new Promise<void>((resolve) => void syncs.push(resolve)) : Promise.resolve()
        await held
        return { results, synced }
      },
      entries(...args) {
        reads += 1
        return inner.entries(...args)
      },
      news(after) {
        reads += 1
        return inner.news(after)
      },
    },
    commits,
    reads: () => reads,
    holdSyncs(isHolding = true) {
      isHoldingSyncs = isHolding
    },
    async sync(which = 0) {
      const [done] = syncs.splice(which, 1)
      if (done === undefined) throw new Error('no sync waits')
      done()
      await settled()
    },
    holdCommits() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return () => {
        resolve()
        return settled()
      }
    },
    failNext(error) {
      failure = error
    },
  }
}

export function openLog(options: Partial<SessionLogOptions> = {}) {
  const held = createHeldStore()
  const clock = createTestClock()
  const log = createSessionLog({ store: held.store, clock, ...options })

  /** Hands in commands at once, and lets them be committed. Gives what became of each, as far as is known by now. */
  async function commit(...commands: Command[]) {
    const outcomes = commands.map((command) => outcomeOf(log.commit(command)))
    await clock.advance(5)
    return outcomes
  }

  /** A new session with a run that is running; its log has two entries. */
  async function startRun(values: Parameters<typeof accept>[1] = {}): Promise<RunRecord> {
    const [taken] = await commit(accept(newSession(), values))
    if (taken?.done?.run === undefined) throw new Error('the run was not taken', { cause: taken?.error })
    return taken.done.run
  }

  return { ...held, log, clock, commit, startRun }
}

/** What has become of a promise by the time somebody looks. */
export function outcomeOf<T>(promise: Promise<T>): { done?: T; error?: unknown } {
  const outcome: { done?: T; error?: unknown } = {}
  promise.then(
    (done) => {
      outcome.done = done
    },
    (error: unknown) => {
      outcome.error = error
    },
  )
  return outcome
}

/** Reads for as long as the reader is open, and keeps what it was shown. */
export function collect(reader: Watcher): { shown: Entry[]; seqs(): number[]; hasEnded(): boolean } {
  const shown: Entry[] = []
  let ended = false
  const read = async () => {
    for await (const batch of { [Symbol.asyncIterator]: () => reader }) shown.push(...batch)
    ended = true
  }
  void read()
  return { shown, seqs: () => shown.map(({ seq }) => seq), hasEnded: () => ended }
}
