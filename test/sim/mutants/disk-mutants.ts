// Bugs of the disk side: promises of durability that are not kept.

import type { Mutant } from '../mutant.ts'

export const diskMutants: readonly Mutant[] = [
  {
    name: 'sync-does-nothing',
    seed: 3,
    bug: 'a sync says that it is done and nothing is on disk',
    foundBy: ['acknowledged', 'views', 'effects', 'automaton'],
    disk: (disk) => ({
      batches: disk.batches,
      incarnation: disk.incarnation,
      get synced() {
        return 0
      },
      set synced(_) {},
    }),
  },
  {
    name: 'ack-before-sync',
    seed: 3,
    bug: 'what must be on disk is acknowledged while the sync is still on its way',
    foundBy: ['acknowledged', 'views', 'effects', 'automaton'],
    store: (store) => ({
      ...store,
      async commit(commands) {
        const { results } = await store.commit(commands)
        return { results, synced: Promise.resolve() }
      },
    }),
  },
  {
    name: 'ignores-sync-failure',
    seed: 8,
    bug: 'a disk that failed to sync is trusted afterwards',
    foundBy: ['acknowledged', 'views', 'effects', 'automaton'],
    faults(faults) {
      faults.disk.syncFails = Math.max(faults.disk.syncFails, 0.05)
    },
    ignoresSyncFailure(disk) {
      const { synced } = disk
      Object.defineProperty(disk, 'synced', { enumerable: true, get: () => synced, set() {} })
    },
  },
  {
    name: 'opens-unsynced',
    seed: 4,
    bug: 'what a killed process wrote and did not sync is shown by the next one as if it were safe',
    foundBy: ['views', 'acknowledged', 'deletions', 'approvals'],
    faults(faults) {
      Object.assign(faults.process, { killsBeforeCuts: 0.15, crashEveryMs: null, inRecovery: 0, cutsInSync: 0 })
      faults.disk.syncMs = [100, 300]
      // A run that is under way at the kill is claimed by the next process, with a sync that makes everything safe. So runs are short.
      Object.assign(faults.model, { chunkMs: 0, calls: 0, long: 0, hangs: 0, dies: 0 })
    },
    opensUnsynced: true,
  },
  {
    name: 'kill-takes-unsynced',
    seed: 2,
    bug: 'text in flight is only in the memory of the process when it is shown',
    foundBy: ['views'],
    faults(faults) {
      Object.assign(faults.process, { crashEveryMs: 300, powerCuts: 0 })
      faults.disk.syncMs = [20, 50]
    },
    killTakesUnsynced: true,
  },
]
