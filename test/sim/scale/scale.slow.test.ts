import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { measuredConstants } from '../../../bench/scale/constants.ts'
import { GATHER_MS, GROUP_MS, LEASE_MS, type Load, predict } from '../../../bench/scale/cost-model.ts'
import { fitPlane, slope } from '../../../bench/scale/fit.ts'
import { tableIn, tables } from '../../../bench/scale/tables.ts'
import { compare } from './compare.ts'
import { simulate } from './simulate.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('the model of a large installation', () => {
  test('agrees with the simulator about a small one', async () => {
    const load: Load = {
      replicas: 3,
      streams: 50,
      tokensPerSecond: 5,
      tokensPerRun: 20,
      elsewhere: 0.1,
      cores: 8,
    }
    const times = { rampMs: 500, settleMs: 500, measureMs: 4_000, afterMs: 11_500 }

    const simulated = await simulate({ constants: measuredConstants, load, seed: 7, kills: 1, ...times })

    const rows = compare(predict(measuredConstants, load), simulated)
    // So few runs are not spread evenly, so only what does not depend on luck is compared.
    const steady = rows.filter(({ name }) => ['tokens/s', 'commits/s', 'takeover, most ms'].includes(name))
    expect(steady.filter(({ isClose }) => !isClose)).toEqual([])
    expect(simulated.lost).toBe(0)
    expect(simulated.takeoversMs.length).toBeGreaterThan(5)
  })

  test('has the times of the program', () => {
    expect(read('src/log/session-log.ts')).toContain(`const GROUP_MS = ${GROUP_MS}\n`)
    expect(read('src/log/notified-wake.ts')).toContain(`const GATHER_MS = ${GATHER_MS}\n`)
    expect(read('src/engine/recovery/lease.ts')).toContain(`const SHARED_MS = ${LEASE_MS / 1_000}_000\n`)
  })

  test('is the one that its page shows', () => {
    const page = read('bench/SCALE.md')
    for (const [name, table] of Object.entries(tables(measuredConstants))) expect(tableIn(page, name)).toBe(table)
  })
})

test('a plane through exact points is found again', () => {
  const points = [
    [1, 1, 1],
    [1, 5, 5],
    [1, 20, 200],
    [1, 100, 100],
  ].map((x) => ({ x, y: 150 * (x[0] ?? 0) + 20 * (x[1] ?? 0) + 2 * (x[2] ?? 0) }))

  expect(fitPlane(points).map((weight) => Number(weight.toFixed(6)))).toEqual([150, 20, 2])
  expect(slope([1, 10, 80].map((x) => ({ x, y: 60 + 4 * x }))).perUnit).toBeCloseTo(4)
})
