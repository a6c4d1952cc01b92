// Bugs of the engine: runs that nobody sees to, requests that are not heeded, limits that do not hold.

import type { NewEntry } from '../../../src/store/ports/journal.ts'
import type { Mutant } from '../mutant.ts'

const noteAsRepeatable = (entry: NewEntry): NewEntry =>
  entry.kind === 'fact' && entry.data.startsWith('{"fact":"tool_intent"')
    ? { ...entry, data: entry.data.replace('"once"', '"idempotent"') }
    : entry

const noteAsGivenBack = (entry: NewEntry): NewEntry => ({ ...entry, data: entry.data.replace('"died":true,', '') })

export const engineMutants: readonly Mutant[] = [
  {
    name: 'intent-of-no-effect',
    seed: 19,
    bug: 'a tool that may run once is noted as one that may be repeated',
    foundBy: ['effects'],
    log: (log) => ({
      commit: (command, onRefused) =>
        log.commit(
          command.type === 'append' ? { ...command, entries: command.entries.map(noteAsRepeatable) } : command,
          onRefused,
        ),
      synced: log.synced,
      watch: log.watch,
      close: log.close,
      get watchers() {
        return log.watchers
      },
    }),
  },
  {
    name: 'forgets-deaths',
    seed: 11,
    bug: 'a call that the process died in is started again however often that happens',
    foundBy: ['effects'],
    faults(faults) {
      faults.process.crashEveryMs = 250
      faults.tool.ms = 2_000
    },
    log: (log) => ({
      commit: (command, onRefused) =>
        log.commit(
          command.type === 'claim_run' ? { ...command, entries: command.entries.map(noteAsGivenBack) } : command,
          onRefused,
        ),
      synced: log.synced,
      watch: log.watch,
      close: log.close,
      get watchers() {
        return log.watchers
      },
    }),
  },
  {
    name: 'never-recovers',
    seed: 3,
    bug: 'nobody takes over what a dead process left behind',
    foundBy: ['liveness'],
    engine: (engine) => ({ ...engine, recover: async () => {} }),
  },
  {
    name: 'recovers-at-start-only',
    seed: 14,
    bug: 'what could not be recovered at the start is never looked at again',
    foundBy: ['liveness'],
    faults(faults) {
      faults.disk.fullEveryMs = 700
      faults.disk.fullForMs = 1_500
      faults.process.crashEveryMs = 900
    },
    engine(engine) {
      let isFirst = true
      return {
        ...engine,
        async recover() {
          if (!isFirst) return
          isFirst = false
          await engine.recover()
        },
      }
    },
  },
  {
    name: 'forgets-cancels',
    seed: 2,
    bug: 'a cancel is acknowledged and nothing happens',
    foundBy: ['cancels'],
    faults(faults) {
      faults.cancels = 0.6
      faults.model.hangs = 0.5
    },
    engine: (engine) => ({ ...engine, runs: { ...engine.runs, cancel: async (run) => run } }),
  },
  {
    name: 'no-limits',
    seed: 11,
    bug: 'the limits of a run are not looked at',
    foundBy: ['budgets'],
    definition: (definition) => ({
      ...definition,
      limits: { ...definition.limits, steps: 20, tokens: null, toolCalls: 100, identicalCalls: 100 },
    }),
  },
  {
    name: 'other-call-ids',
    seed: 2,
    bug: 'a repeated call does not look like the same call to its tool',
    foundBy: ['effects'],
    tools: (tools) =>
      tools.map((tool) => {
        if (tool.location !== 'server') return tool
        let count = 0
        const call: typeof tool.call = (request, signal) => {
          count += 1
          return tool.call({ ...request, callId: `${request.callId}#${count}` }, signal)
        }
        return { ...tool, call }
      }),
  },
]
