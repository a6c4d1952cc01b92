// Bugs of the log: readers that are shown too much, too little, too early or too late.

import type { Entry } from '../../../src/domain/session/entry.ts'
import type { SessionLog } from '../../../src/log/session-log.ts'
import type { Watcher } from '../../../src/log/watcher.ts'
import type { Mutant } from '../mutant.ts'

/** The log with its readers changed. */
const reading = (log: SessionLog, change: SessionLog['watch']): SessionLog => ({
  commit: log.commit,
  synced: log.synced,
  watch: change,
  close: log.close,
  get watchers() {
    return log.watchers
  },
})

export const logMutants: readonly Mutant[] = [
  {
    name: 'skips-on-resume',
    seed: 2,
    bug: 'who comes back misses the next event',
    foundBy: ['views'],
    log: (log) =>
      reading(log, (sessionId, after, options) => log.watch(sessionId, after > 1 ? after + 1 : after, options)),
  },
  {
    name: 'repeats-on-resume',
    seed: 1,
    bug: 'who comes back is shown the last event again',
    foundBy: ['views'],
    log: (log) => reading(log, (sessionId, after, options) => log.watch(sessionId, Math.max(0, after - 1), options)),
  },
  {
    name: 'publishes-before-commit',
    seed: 2,
    bug: 'readers are shown what is about to be committed',
    foundBy: ['views'],
    log: publishEarly,
  },
  {
    name: 'replay-race',
    seed: 2,
    bug: 'what is committed between reading the log and listening is not shown',
    foundBy: ['views', 'liveness', 'starvation'],
    log: (log, { random }) =>
      reading(log, (sessionId, after, options) => {
        const watcher = log.watch(sessionId, after, options)
        let batches = 0
        return {
          ...watcher,
          async next() {
            batches += 1
            const isRace = batches === 2 && random.chance(0.3)
            if (isRace) await watcher.next()
            return watcher.next()
          },
        }
      }),
  },
  {
    name: 'unbounded-buffer',
    seed: 4,
    bug: 'everything that a slow reader does not take is kept for it in memory',
    foundBy: ['memory'],
    faults(faults) {
      faults.model.long = 0.5
      faults.reader.stalls = 0.3
    },
    log: (log) => reading(log, (sessionId, after, options) => keepAll(log.watch(sessionId, after, options))),
  },
  {
    name: 'late-wake-up',
    seed: 2,
    bug: 'a reader that has caught up hears of new events three seconds later',
    foundBy: ['starvation'],
    log: (log, { process }) =>
      reading(log, (sessionId, after, options) => {
        const watcher = log.watch(sessionId, after, options)
        return {
          ...watcher,
          async next() {
            const batch = await watcher.next()
            await process.pause(3_000)
            return batch
          },
        }
      }),
  },
  {
    name: 'mono-jumps',
    seed: 2,
    bug: 'durations are measured with the wall clock',
    foundBy: ['liveness', 'start'],
    faults(faults) {
      faults.wallJumpEveryMs = 1_000
    },
    clock: (clock) => ({ ...clock, mono: clock.now }),
  },
]

/** Shows an append at once, under the seqs that it will probably get. */
function publishEarly(log: SessionLog): SessionLog {
  interface Early {
    sessionId: string
    last: number
    batches: Entry[][]
    wake: () => void
  }
  const readers = new Set<Early>()
  const early: SessionLog = reading(log, (sessionId, after, options) => {
    const watcher = log.watch(sessionId, after, options)
    const reader: Early = { sessionId, last: after, batches: [], wake: () => {} }
    readers.add(reader)
    let pending: ReturnType<Watcher['next']> | null = null
    return {
      ...watcher,
      async next() {
        for (;;) {
          const early = reader.batches.shift()
          if (early !== undefined) return { done: false, value: options?.pick?.(early) ?? early }
          pending ??= watcher.next()
          const woken = new Promise<'woken'>((resolve) => {
            reader.wake = () => resolve('woken')
          })
          const got = await Promise.race([pending, woken])
          if (got === 'woken') continue
          pending = null
          if (got.done) return got
          const fresh = got.value.filter(({ seq }) => seq > reader.last)
          reader.last = Math.max(reader.last, got.value.at(-1)?.seq ?? 0)
          if (fresh.length > 0) return { done: false, value: fresh }
        }
      },
      close() {
        readers.delete(reader)
        watcher.close()
      },
    }
  })
  return {
    ...early,
    commit(command, onRefused) {
      if (command.type === 'append') {
        for (const reader of readers) {
          if (reader.sessionId !== command.sessionId || reader.last === 0) continue
          reader.batches.push(
            command.entries.map(({ kind, data }, i) => ({
              seq: reader.last + 1 + i,
              runId: command.runId,
              kind,
              data,
            })),
          )
          reader.last += command.entries.length
          reader.wake()
        }
      }
      return log.commit(command, onRefused)
    },
    get watchers() {
      return log.watchers
    },
  }
}

function keepAll(watcher: Watcher): Watcher {
  let kept: Entry[] = []
  let isOver = false
  let wake = () => {}
  const collect = async () => {
    for await (const batch of { [Symbol.asyncIterator]: () => watcher }) {
      kept.push(...batch)
      wake()
    }
    isOver = true
    wake()
  }
  void collect()
  return {
    ...watcher,
    async next() {
      while (kept.length === 0 && !isOver) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      const all = kept
      kept = []
      return all.length === 0 ? { done: true, value: undefined } : { done: false, value: all }
    },
  }
}
