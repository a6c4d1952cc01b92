// Bugs of the store: rules that its commands do not keep.

import type { Command } from '../../../src/store/ports/command.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Mutant } from '../mutant.ts'

/** The store with its commands changed on the way in. */
const changing = (store: Store, change: (command: Command) => Command): Store => ({
  ...store,
  commit: (commands) => store.commit(commands.map(change)),
})

export const storeMutants: readonly Mutant[] = [
  {
    name: 'loses-keys',
    seed: 3,
    bug: 'idempotency keys are not kept',
    foundBy: ['acknowledged', 'client'],
    store: (store) =>
      changing(store, (command) => {
        if (command.type !== 'accept_run') return command
        const { idempotency: _, ...rest } = command
        return rest
      }),
  },
  {
    name: 'forgets-keys-on-restart',
    seed: 37,
    bug: 'idempotency keys live in memory only',
    foundBy: ['acknowledged', 'client'],
    store: (store, { process }) =>
      changing(store, (command) =>
        command.type === 'accept_run' && command.idempotency !== undefined
          ? { ...command, idempotency: { ...command.idempotency, key: `${process.number} ${command.idempotency.key}` } }
          : command,
      ),
  },
  {
    name: 'intent-not-synced',
    seed: 11,
    bug: 'a tool is started before its intent is on disk',
    foundBy: ['effects'],
    faults(faults) {
      faults.process.powerCuts = 1
      faults.model.calls = Math.max(faults.model.calls, 0.6)
    },
    store: (store) => changing(store, (command) => (command.type === 'append' ? { ...command, sync: false } : command)),
  },
  {
    name: 'two-ends',
    bug: 'the end of a run is written twice',
    foundBy: ['automaton'],
    store: (store) =>
      changing(store, (command) =>
        command.type === 'finish_run'
          ? { ...command, entries: [...command.entries, ...command.entries.slice(-1)] }
          : command,
      ),
  },
  {
    name: 'wrong-status',
    seed: 2,
    bug: 'the record of a run that was cancelled says that it is completed',
    foundBy: ['automaton'],
    store: (store) =>
      changing(store, (command) =>
        command.type === 'finish_run' && command.status === 'cancelled' ? { ...command, status: 'completed' } : command,
      ),
  },
  {
    name: 'compaction-forgets-spans',
    seed: 160,
    bug: 'a compacted entry does not know which deltas it holds',
    foundBy: ['views'],
    faults(faults) {
      faults.compactAfterMs = 100
      faults.model.chunkMs = 20
      Object.assign(faults.reader, { leaves: 0.6, rewinds: 0.8, givesUp: 0 })
    },
    store: (store) =>
      changing(store, (command) => {
        if (command.type !== 'compact_session') return command
        // One span that covers all of it still removes nothing from the reader's share.
        const entries = command.entries.map((entry) =>
          entry.spans === undefined ? entry : { ...entry, spans: entry.spans.map(([seq]) => [seq, 0] as const) },
        )
        return { ...command, entries }
      }),
  },
  {
    name: 'message-not-stored',
    seed: 2,
    bug: 'the message of a run that had to wait is not written when it begins',
    foundBy: ['acknowledged'],
    store: (store) =>
      changing(store, (command) =>
        command.type === 'start_run' ? { ...command, start: { ...command.start, messages: [] } } : command,
      ),
  },
]
