// Several replicas on one Postgres, and everything that can happen to them: whatever it is, no client sees anything but a reconnect.
//
//   ROUNDS=20 CLIENTS=40 REPLICAS=3 SEED=7 npm run test:replicas -- replicas.test.ts      SEED replays the order of the harm

import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { fromEnvironment, ms, print, quantile } from '../crash/support/figures.ts'
import { until } from '../crash/support/until.ts'
import { createRandom } from '../sim/random.ts'
import { harms } from './support/harm.ts'
import { startLoad } from './support/load.ts'
import type { Talk } from './support/talk.ts'
import { openTeam } from './support/team.ts'
import { type TakeoverWatch, watchTakeover } from './support/watch-takeover.ts'

const ROUNDS = fromEnvironment('ROUNDS', 20)
const CLIENTS = fromEnvironment('CLIENTS', 40)
const REPLICAS = fromEnvironment('REPLICAS', 3)
const SEED = fromEnvironment('SEED', 20_261_116)
const TAKEOVER_MS = 15_000

test('replicas and their Postgres may die at any time: nothing is lost, done twice, missed or stuck', async () => {
  print(`seed ${SEED}`)
  const random = createRandom(SEED)
  const team = await openTeam(onTestFinished, { replicas: REPLICAS })
  const load = startLoad(team, { clients: CLIENTS, random })
  /** Until the last run of a dead replica had another owner, and until the last client saw its run go on. */
  const takeovers: number[] = []
  const went: number[] = []

  for (let round = 0; round < ROUNDS; round += 1) {
    await pause(random.between(500, 3_000))
    const harm = harms[round % harms.length] ?? harms[0]
    let since = 0
    let open: Talk[] = []
    let watch: TakeoverWatch | null = null
    await harm.inflict(team, random, () => {
      since = performance.now()
      open = load.open()
      if (harm.takesOver) watch = watchTakeover(team.storeUrl())
    })
    // When each of them went on. Null: not yet.
    const goneOn = (talk: Talk) => talk.heard.find((at) => at > since) ?? (talk.ended ? since : null)
    if (harm.takesOver) {
      const late = () => open.filter((talk) => goneOn(talk) === null).map(({ name }) => name)
      await until(`all go on after ${harm.name}`, () => late().length === 0, TAKEOVER_MS * 4)
      went.push(Math.max(0, ...open.map((talk) => (goneOn(talk) ?? 0) - since)))
      takeovers.push((await (watch as TakeoverWatch | null)?.stop()) ?? 0)
    }
    const answers = load.talks.filter(({ ended }) => ended).length
    const took = harm.takesOver
      ? `; takeover ${ms(takeovers.at(-1) ?? 0)}, all went on within ${ms(went.at(-1) ?? 0)}`
      : ''
    print(`round ${round + 1}: ${harm.name}, ${open.length} open, ${answers} answers so far${took}`)
  }
  const figures = await load.finish()

  print(
    `Replicas: ${ROUNDS} rounds, ${REPLICAS} replicas, ${CLIENTS} clients (seed ${SEED}): ${figures}; takeover p50 ${ms(quantile(takeovers, 0.5))}, max ${ms(Math.max(...takeovers))}, seen by clients within ${ms(Math.max(...went))}`,
  )
  expect(Math.max(...takeovers)).toBeLessThanOrEqual(TAKEOVER_MS)
})

test('a rolling restart drops no run, and readers see nothing but a reconnect', async () => {
  const team = await openTeam(onTestFinished, { replicas: REPLICAS })
  const load = startLoad(team, { clients: CLIENTS, random: createRandom(SEED) })
  const exits: (number | null)[] = []

  for (let place = 0; place < REPLICAS; place += 1) {
    await until('there is work', () => load.open().length > CLIENTS / 4, 60_000)
    const replica = team.replicas[place]
    replica?.signal('SIGTERM')
    exits.push((await replica?.exited)?.code ?? null)
    await team.start(place)
  }
  const figures = await load.finish()

  expect(exits).toEqual(Array(REPLICAS).fill(0))
  expect(load.talks.flatMap(({ name, failure }) => (failure === null ? [] : [`${name}: ${failure}`]))).toEqual([])
  print(`Rolling restart of ${REPLICAS} replicas, ${CLIENTS} clients: ${figures}`)
})
