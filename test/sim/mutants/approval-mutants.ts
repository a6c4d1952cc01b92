// Bugs of what waits for people and clients: calls that nobody allowed, answers that count twice or not at all.

import type { SessionLog } from '../../../src/log/session-log.ts'
import type { Command, Result } from '../../../src/store/ports/command.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Faults } from '../faults.ts'
import type { Mutant } from '../mutant.ts'

const changing = (store: Store, change: (command: Command) => Command): Store => ({
  ...store,
  commit: (commands) => store.commit(commands.map(change)),
})

const answering = (store: Store, change: (command: Command, result: Result) => Result): Store => ({
  ...store,
  async commit(commands) {
    const { results, synced } = await store.commit(commands)
    return { synced, results: results.map((result, i) => change(commands[i] ?? noCommand, result)) }
  },
})
const nothingDone: Result = { ok: true, firstSeq: 0 }
const noCommand: Command = { type: 'renew_lease', leaseOwner: '', until: 0 }

const withoutConsume = (command: Command): Command => {
  if (command.type !== 'append') return command
  const { consume: _, ...rest } = command
  return rest
}

/** Enough questions, and people who answer them. */
function supervised(faults: Faults): void {
  faults.offers.gated = true
  Object.assign(faults.model, { calls: 0.9, long: 0, hangs: 0, dies: 0, refuses: 0, chunkMs: 2 })
  Object.assign(faults.people, { thinkMs: 150, ignores: 0, expiresSeconds: 3_600 })
}

function withAgents(faults: Faults): void {
  supervised(faults)
  faults.offers.agents = true
}

export const approvalMutants: readonly Mutant[] = [
  {
    name: 'runs-unasked',
    bug: 'one gated call in five runs without a question',
    foundBy: ['approvals'],
    faults: supervised,
    gate: (gate, { random }) => ({
      ...gate,
      judge: (call) =>
        random.chance(0.2) ? Promise.resolve({ verdict: 'run', approval: null, grant: null }) : gate.judge(call),
    }),
  },
  {
    name: 'approval-not-used-up',
    bug: 'a call runs and its approval stays valid',
    foundBy: ['approvals'],
    faults: supervised,
    store: (store) => changing(store, withoutConsume),
  },
  {
    name: 'rejected-runs',
    bug: 'a call runs whatever was decided about it',
    foundBy: ['approvals'],
    faults: supervised,
    store: (store) => ({
      ...changing(store, withoutConsume),
      waits: {
        ...store.waits,
        list: async (query) =>
          (await store.waits.list(query)).map((wait) =>
            wait.wait === 'approval' && wait.status === 'rejected' ? { ...wait, status: 'approved' } : wait,
          ),
      },
    }),
  },
  {
    name: 'two-winners',
    bug: 'whoever answers second is told that the answer counts',
    foundBy: ['approvals'],
    faults(faults) {
      supervised(faults)
      faults.people.twice = 0.8
    },
    store: (store) =>
      answering(store, (_, result) =>
        result.ok && result.answered !== undefined
          ? { ...result, answered: result.answered.map(({ wait }) => ({ applied: wait !== null, wait })) }
          : result,
      ),
  },
  {
    name: 'approved-is-refused',
    bug: 'a call that was allowed does not run, and the model is told that it was refused',
    foundBy: ['approvals'],
    faults: supervised,
    store: (store) => ({
      ...store,
      waits: {
        ...store.waits,
        list: async (query) =>
          (await store.waits.list(query)).map((wait) =>
            wait.wait === 'approval' && wait.status === 'approved' ? { ...wait, status: 'rejected' } : wait,
          ),
      },
    }),
  },
  {
    name: 'waits-not-passed-on',
    seed: 2,
    bug: 'a continuation does not know what else its run waited for, and asks again',
    foundBy: ['approvals', 'calls'],
    faults: supervised,
    store: (store) => ({
      ...store,
      waits: {
        ...store.waits,
        list: async (query) =>
          (await store.waits.list(query)).filter(({ status }) => query.status !== undefined || status !== 'pending'),
      },
    }),
  },
  {
    name: 'waits-for-what-was-answered',
    seed: 2,
    bug: 'a run begins to wait for what has been answered while it ran',
    foundBy: ['liveness', 'approvals'],
    faults(faults) {
      supervised(faults)
      Object.assign(faults.people, { thinkMs: 50, inConversation: 0, twice: 0.5 })
      Object.assign(faults.disk, { callMs: 10, syncMs: [20, 50] })
    },
    store: (store) =>
      changing(store, (command) => {
        if (command.type !== 'finish_run') return command
        const { stillPending: _, ...rest } = command
        return rest
      }),
  },
  {
    name: 'intent-after-the-call',
    bug: 'a call begins while its intent is still on its way to the store',
    foundBy: ['effects', 'approvals', 'audit'],
    faults(faults) {
      supervised(faults)
      faults.process.crashEveryMs = 300
    },
    log: (log, { process }) => startingEarly(log, (ms) => process.pause(ms)),
  },
  {
    name: 'forgets-client-results',
    bug: 'the result of a client tool is taken and not kept',
    foundBy: ['calls'],
    faults(faults) {
      supervised(faults)
      faults.offers.client = true
    },
    store: (store) =>
      changing(store, (command) =>
        command.type === 'accept_run' && command.answers !== undefined
          ? {
              ...command,
              start: { ...command.start, messages: command.start.messages.filter(({ role }) => role !== 'tool') },
            }
          : command,
      ),
  },
  {
    name: 'sub-agent-begins-anew',
    seed: 7,
    bug: 'a sub-agent does not find what it has said, and what it was allowed to do is forgotten',
    foundBy: ['approvals', 'calls'],
    faults: withAgents,
    store: (store) => ({ ...store, messages: { ...store.messages, ofLane: async () => [] } }),
  },
  {
    name: 'decisions-not-audited',
    bug: 'the trail has no record of who decided what',
    foundBy: ['audit'],
    faults: supervised,
    store: (store) =>
      changing(store, (command) => {
        if (command.type !== 'accept_run') return command
        const { answerAudit: _, ...rest } = command
        return rest
      }),
  },
  {
    name: 'calls-not-audited',
    bug: 'the trail has no record of a call that began',
    foundBy: ['audit'],
    faults: supervised,
    store: (store) => changing(store, (command) => (command.type === 'append' ? { ...command, audit: [] } : command)),
  },
  {
    name: 'cancelled-and-approved',
    seed: 2,
    bug: 'a run that was asked to stop goes on waiting, and whoever answers lets it go on',
    foundBy: ['cancels'],
    faults(faults) {
      supervised(faults)
      faults.cancels = 0.9
      faults.people.thinkMs = 1_500
    },
    store: (store) => ({
      ...store,
      async commit(commands) {
        const isKept = (command: Command) =>
          command.type !== 'finish_run' || command.status !== 'cancelled' || command.entries.length > 0
        const { results, synced } = await store.commit(commands.filter(isKept))
        const left = [...results]
        return { synced, results: commands.map((one) => (isKept(one) ? left.shift() : null) ?? nothingDone) }
      },
    }),
  },
]

/** Says that intents are written, and writes them a moment later. */
function startingEarly(log: SessionLog, pause: (ms: number) => Promise<void>): SessionLog {
  return {
    commit(command, onRefused) {
      const isIntent =
        command.type === 'append' && command.entries.some(({ data }) => data.startsWith('{"fact":"tool_intent"'))
      if (!isIntent) return log.commit(command, onRefused)
      void pause(20)
        .then(() => log.commit(command))
        .catch(() => {})
      return Promise.resolve({ ok: true, firstSeq: 1 })
    },
    synced: log.synced,
    watch: log.watch,
    close: log.close,
    get watchers() {
      return log.watchers
    },
  }
}
