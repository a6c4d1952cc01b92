// What happens to replicas and to Postgres. Each harm ends by itself: when it resolves, all that was hurt runs again.

import { setTimeout as pause } from 'node:timers/promises'
import { askOnce } from '../../postgres/test-database.ts'
import type { Random } from '../../sim/random.ts'
import type { Team } from './team.ts'

export interface Harm {
  readonly name: string
  /** Whether runs change their owner, so that the time of a takeover can be measured. */
  readonly takesOver: boolean
  /** `begun` is called when it hurts. */
  inflict(team: Team, random: Random, begun: () => void): Promise<void>
}

const killed: Harm = {
  name: 'kill -9 of a replica',
  takesOver: true,
  async inflict(team, random, begun) {
    const place = random.below(team.replicas.length)
    const away = random.between(0, 6_000)
    begun()
    await team.replicas[place]?.kill()
    await pause(away)
    await team.start(place)
  },
}

const paused: Harm = {
  name: 'SIGSTOP of a replica',
  takesOver: true,
  async inflict(team, random, begun) {
    const replica = team.replicas[random.below(team.replicas.length)]
    begun()
    replica?.signal('SIGSTOP')
    await pause(random.between(1_000, 20_000))
    replica?.signal('SIGCONT')
  },
}

const restarted = (mode: 'fast' | 'immediate'): Harm => ({
  name: `${mode} restart of Postgres`,
  takesOver: false,
  async inflict({ postgres }, random, begun) {
    begun()
    await postgres.stop(mode)
    await pause(random.between(0, 3_000))
    await postgres.start()
  },
})

const postgresKilled: Harm = {
  name: 'kill -9 of Postgres',
  takesOver: false,
  async inflict({ postgres }, random, begun) {
    begun()
    await postgres.kill()
    await pause(random.between(0, 3_000))
    await postgres.start()
  },
}

const connectionsEnded: Harm = {
  name: 'pg_terminate_backend of all connections',
  takesOver: false,
  async inflict({ postgres }, _random, begun) {
    begun()
    await endConnections({ postgres })
  },
}

export async function endConnections({ postgres }: Pick<Team, 'postgres'>): Promise<void> {
  const others = `backend_type = 'client backend' AND pid <> pg_backend_pid()`
  await askOnce(postgres.url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
}

/** One after the other, so that a few rounds see them all. */
export const harms: readonly [Harm, ...Harm[]] = [
  killed,
  restarted('fast'),
  paused,
  postgresKilled,
  connectionsEnded,
  restarted('immediate'),
]
