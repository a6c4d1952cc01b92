// Bugs of several replicas: fences, wakes and jobs that do not hold.

import { createLocalPresence } from '../../../src/engine/sessions/presence.ts'
import type { Command } from '../../../src/store/ports/command.ts'
import type { Mutant } from '../mutant.ts'

export const clusterMutants: readonly Mutant[] = [
  {
    name: 'lease-without-fence',
    seed: 50,
    bug: 'a replica that was paused goes on writing to runs that another one has taken over',
    foundBy: ['automaton', 'views', 'effects', 'messages'],
    faults(faults) {
      faults.process.crashEveryMs = null
      faults.graceMs = null
      Object.assign(faults.model, { chunkMs: 60, long: 0.2 })
    },
    cluster(faults) {
      Object.assign(faults, { replicas: 2, pauseEveryMs: 4_000, pauseForMs: 14_000, awayEveryMs: null })
    },
    store: (store) => ({
      ...store,
      async commit(commands) {
        const unfenced = commands.map(async (command): Promise<Command> => {
          if (command.type !== 'append' && command.type !== 'finish_run') return command
          return { ...command, fence: (await store.runs.get(command.runId))?.fence ?? command.fence }
        })
        return store.commit(await Promise.all(unfenced))
      },
    }),
  },
  {
    name: 'wakes-without-poll',
    seed: 2,
    bug: 'a wake that gets lost is never made up for by polling',
    foundBy: ['starvation', 'cancels', 'takeover', 'liveness'],
    cluster(faults) {
      Object.assign(faults, { replicas: 3, awayEveryMs: null, pauseEveryMs: null })
      Object.assign(faults.wakes, { dropped: 1, lostEveryMs: null })
    },
    wake: (wake) => ({
      join: (topic, look) =>
        wake.join(topic, (sessionId) => {
          if (sessionId !== null) look(sessionId)
        }),
    }),
  },
  {
    name: 'drain-without-release',
    seed: 10,
    bug: 'a replica that stops keeps its runs until its lease has run out',
    foundBy: ['takeover'],
    faults(faults) {
      Object.assign(faults.process, { crashEveryMs: null, restartEveryMs: 2_000, drainMs: 500 })
      Object.assign(faults.model, { chunkMs: 60, hangs: 0.2 })
      faults.disk.callFails = 0
      faults.graceMs = null
    },
    cluster(faults) {
      Object.assign(faults, { replicas: 3, pauseEveryMs: null, awayEveryMs: null })
    },
    log: (log) => ({
      commit: async (command, onRefused) =>
        command.type === 'release_run' ? { ok: true, firstSeq: 0 } : log.commit(command, onRefused),
      synced: log.synced,
      watch: log.watch,
      close: log.close,
      get watchers() {
        return log.watchers
      },
    }),
  },
  {
    name: 'two-holders',
    bug: 'every replica does what is meant to be done once',
    foundBy: ['hourly'],
    faults(faults) {
      faults.disk.callFails = 0
      faults.process.crashEveryMs = null
    },
    cluster(faults) {
      Object.assign(faults, { replicas: 3, pauseEveryMs: null, awayEveryMs: null })
    },
    shared: (shared) => ({ ...shared, hold: async () => true, get: async () => null }),
  },
  {
    name: 'own-readers-only',
    seed: 18,
    bug: 'a run stops although a client reads it at another replica',
    foundBy: ['presence'],
    faults(faults) {
      faults.graceMs = 200
      faults.disk.callFails = 0
      faults.cancels = 0
      Object.assign(faults.process, { crashEveryMs: null, restartEveryMs: null })
      Object.assign(faults.model, { chunkMs: 60, long: 0.3, hangs: 0.3 })
      Object.assign(faults.reader, { leaves: 0.1, givesUp: 0, stalls: 0 })
    },
    cluster(faults) {
      Object.assign(faults, { replicas: 3, pauseEveryMs: null, awayEveryMs: null })
    },
    presence: (_presence, { process }) => createLocalPresence(process.clock),
  },
]
