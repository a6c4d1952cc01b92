import { onTestFinished } from 'vitest'
import { fromEnvironment } from '../../crash/support/figures.ts'
import { until } from '../../crash/support/until.ts'
import { createRandom } from '../../sim/random.ts'
import { startLoad } from './load.ts'
import { openTeam, type TeamOptions } from './team.ts'

const CLIENTS = fromEnvironment('CLIENTS', 12)
const SEED = fromEnvironment('SEED', 20_261_116)

/** Two replicas whose clients talk already. */
export async function withLoad(options: Partial<TeamOptions> = {}) {
  const random = createRandom(SEED)
  const team = await openTeam(onTestFinished, { replicas: 2, ...options })
  const load = startLoad(team, { clients: CLIENTS, random })
  await until('some have been answered', () => load.talks.some(({ ended }) => ended), 60_000)
  return { random, team, load }
}
