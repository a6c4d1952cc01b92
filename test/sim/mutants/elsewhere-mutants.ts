// Bugs of what stands behind the doors of agents elsewhere: answers that change or get lost, limits that do not hold.

import { type AnyRecord, isSupervised } from '../../../src/domain/records/record.ts'
import type { Command } from '../../../src/store/ports/command.ts'
import type { Supervise } from '../../../src/store/ports/supervised.ts'
import type { Store } from '../../../src/store/store.ts'
import type { ElsewhereWorld } from '../elsewhere/world.ts'
import type { Mutant } from '../mutant.ts'

/** The store with the steps of supervised sessions changed on the way in. */
const stepping = (store: Store, change: (step: Supervise) => Command): Store => ({
  ...store,
  commit: (commands) =>
    store.commit(commands.map((command) => (command.type === 'supervise' ? change(command) : command))),
})

const seeing = (store: Store, change: (wait: AnyRecord) => AnyRecord): Store => ({
  ...store,
  waits: {
    ...store.waits,
    async get(id) {
      const wait = await store.waits.get(id)
      return wait === null ? null : change(wait)
    },
  },
})

/** Agents that ask all the time, and two windows or more. */
function busy(world: ElsewhereWorld): void {
  Object.assign(world, { thinkMs: 20, limitMs: 600, sideBySide: 0.5, commands: 0.4 })
  Object.assign(world.timeouts, { approvalMs: 3_600_000, promptMs: 1_800_000 })
}

export const elsewhereMutants: readonly Mutant[] = [
  {
    name: 'too-many-sessions',
    bug: 'nobody counts the open sessions',
    foundBy: ['elsewhere-records'],
    elsewhere(world) {
      busy(world)
      Object.assign(world, { maxOpen: 2, reopens: 0.4 })
      world.windows = [0, 1, 2].map((i) => ({
        ...{ name: `w${i}`, tokenId: 'token-shared', workspaceRoot: '/srv/shop', hasConnection: true, calls: 20 },
      }))
    },
    store: (store) => stepping(store, ({ maxOpen: _, ...step }) => step),
  },
  {
    name: 'answers-change',
    seed: 12,
    bug: 'an answer that is asked for again is another one',
    foundBy: ['elsewhere-answers'],
    elsewhere: busy,
    store: (store) =>
      seeing(store, (wait) =>
        isSupervised(wait) && 'contentKey' in wait.supervised && wait.supervised.returnedAt !== null
          ? ({ ...wait, reason: 'something else', instruction: 'something else' } as AnyRecord)
          : wait,
      ),
  },
  {
    name: 'elsewhere-not-audited',
    bug: 'the trail has no record of what operators decided for agents elsewhere',
    foundBy: ['elsewhere-answers'],
    elsewhere: busy,
    store: (store) => stepping(store, ({ audit: _, ...step }) => step),
  },
  {
    name: 'audited-twice',
    bug: 'a decision is in the trail twice',
    foundBy: ['elsewhere-answers'],
    elsewhere: busy,
    store: (store) => stepping(store, (step) => ({ ...step, audit: [...(step.audit ?? []), ...(step.audit ?? [])] })),
  },
  {
    name: 'steering-not-handed-over',
    bug: 'steering counts as delivered with the next step of its session, whoever takes it',
    foundBy: ['elsewhere-answers'],
    elsewhere: busy,
    store(store) {
      const stored: string[] = []
      return stepping(store, (step) => {
        const deliver = [...(step.deliver ?? []), ...stored.splice(0)]
        stored.push(...(step.instructions ?? []).map(({ id }) => id))
        return { ...step, deliver }
      })
    },
  },
  {
    name: 'question-not-shown',
    bug: 'the log does not say what waits for a person',
    foundBy: ['elsewhere-records', 'elsewhere-answers'],
    elsewhere: busy,
    store: (store) =>
      stepping(store, (step) => ({
        ...step,
        entries: (step.entries ?? []).map((entry) => ({
          ...entry,
          data: entry.data.replace(/"interrupts":\[.*\]/, '"interrupts":[]'),
        })),
      })),
  },
  {
    name: 'two-questions-at-once',
    bug: 'a session does not know what it waits for, and asks again',
    foundBy: ['elsewhere-records'],
    elsewhere: busy,
    store: (store) => ({
      ...store,
      waits: {
        ...store.waits,
        list: async (query) =>
          (await store.waits.list(query)).filter((wait) => !(isSupervised(wait) && wait.wait !== 'alert')),
      },
    }),
  },
  {
    name: 'applied-and-not-used-up',
    seed: 2,
    bug: 'a change is written and its approval stays valid',
    foundBy: ['elsewhere-answers', 'elsewhere-records', 'agents'],
    elsewhere: busy,
    store: (store) =>
      stepping(store, ({ settle = [], ...step }) => ({
        ...step,
        settle: settle.filter(({ patch }) => patch.status !== 'consumed'),
      })),
  },
]
