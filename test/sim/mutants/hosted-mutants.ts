// Bugs of hosted agents: programs that do more than they may, twice, or know less than they were told.

import type { SessionRecord } from '../../../src/domain/session/session.ts'
import type { HostedWorld } from '../hosted/world.ts'
import type { Mutant } from '../mutant.ts'

/** Programs that do a lot, and are killed and paused only by what is planted. */
function busy(world: HostedWorld): void {
  Object.assign(world, { steps: 5, thinkMs: 100, remembers: 1, dies: 0, isDeaf: 0, isSilent: 0, racingWrites: 0 })
  world.supervision.timeouts.approvalMs = 3_600_000
}

const neverEnded = (session: SessionRecord): SessionRecord =>
  session.supervision?.status === 'terminated'
    ? { ...session, supervision: { ...session.supervision, status: 'active' } }
    : session

export const hostedMutants: readonly Mutant[] = [
  {
    name: 'hosted-yes-stays-good',
    bug: 'what was allowed once can be done again',
    foundBy: ['hosted'],
    hosted: busy,
    store: (store) => ({
      ...store,
      commit: (commands) =>
        store.commit(
          commands.map((command) => (command.type === 'append' ? { ...command, consume: undefined } : command)),
        ),
    }),
  },
  {
    name: 'hosted-answer-forgotten',
    bug: 'a program that is started again does not hear what was decided meanwhile',
    foundBy: ['hosted'],
    hosted(world) {
      busy(world)
      world.dies = 1
    },
    store: (store) => ({
      ...store,
      waits: {
        ...store.waits,
        list: async (query) => (query.continuationRunId === undefined ? store.waits.list(query) : []),
      },
    }),
  },
  {
    name: 'hosted-told-too-early',
    bug: 'steering counts as delivered with the next step of its session, whether its program has heard it or not',
    foundBy: ['hosted'],
    hosted(world) {
      busy(world)
      world.supervision.commands = 0.2
    },
    store(store) {
      const stored: string[] = []
      return {
        ...store,
        commit: (commands) =>
          store.commit(
            commands.map((command) => {
              if (command.type !== 'supervise') return command
              const deliver = [...(command.deliver ?? []), ...stored.splice(0)]
              stored.push(...(command.instructions ?? []).map(({ id }) => id))
              return { ...command, deliver }
            }),
          ),
      }
    },
  },
  {
    name: 'hosted-outlives-its-session',
    bug: 'nobody ends the program of a session that its operator has ended',
    foundBy: ['hosted', 'liveness'],
    hosted(world) {
      busy(world)
      world.supervision.commands = 0.3
    },
    store: (store) => ({
      ...store,
      sessions: {
        ...store.sessions,
        async get(id) {
          const session = await store.sessions.get(id)
          return session === null ? null : neverEnded(session)
        },
      },
    }),
  },
  {
    name: 'hosted-twice',
    bug: 'two replicas hold the program of one session',
    foundBy: ['hosted'],
    hosted: busy,
    cluster: (faults) => {
      faults.replicas = 3
    },
    shared: (shared) => ({ ...shared, hold: async () => true }),
  },
]
