import { type LoadDoorName, loadDoors } from '../door.ts'
import { type Figure, figureOf, round } from '../figure.ts'
import type { LoadPlan, LoadResult } from '../stage.ts'
import { allProblems, medianOf, type Scenario, WARM_UP } from './scenario.ts'

const ROUNDS = 5
const LIMIT = 1.3
const NAMES = Object.keys(loadDoors).filter((name): name is LoadDoorName => Object.hasOwn(loadDoors, name))
const BASE: LoadDoorName = 'ag-ui'

/** CPU of the server per run of 200 tokens at each door, as a multiple of the AG-UI door's. */
export const doors: Scenario = {
  name: 'doors',
  async run(stage, { seconds }) {
    const server = await stage.server()
    for (const door of NAMES) await stage.load(server, { ...WARM_UP, seconds: 2, door })
    const results = new Map<LoadDoorName, LoadResult[]>(NAMES.map((door) => [door, []]))
    // In turn, so that a noisy minute of the machine and a growing store affect all doors equally.
    for (let count = 0; count < ROUNDS; count += 1) {
      for (const [door, found] of results) found.push(await stage.load(server, planOf(door, seconds)))
    }
    await server.stop()

    const base = results.get(BASE) ?? []
    return NAMES.filter((door) => door !== BASE).map((door) => figureFor(door, base, results.get(door) ?? []))
  },
}

const planOf = (door: LoadDoorName, seconds: number | null): LoadPlan => ({
  parallel: 20,
  seconds: seconds ?? 4,
  message: 'full',
  tokens: 200,
  door,
})

function figureFor(door: LoadDoorName, base: readonly LoadResult[], found: readonly LoadResult[]): Figure {
  const [before, cost] = [base, found].map((results) => medianOf(results, (result) => result.cpuMsPerRun))
  const busy = Math.max(...found.map((result) => result.loadCore))
  const runs = found.reduce((sum, result) => sum + result.runs, 0)
  const { path, streams } = loadDoors[door]
  return figureOf({
    scenario: 'doors',
    what: `CPU per run, POST /${path}${streams ? ' as a stream' : ''} (${door})`,
    base: `${round(before ?? 0)} ms`,
    server: `${round(cost ?? 0)} ms`,
    value: (cost ?? 0) / (before ?? 0),
    limit: LIMIT,
    unit: '×',
    problems: allProblems([...base, ...found]),
    note: [
      `against POST / of AG-UI in the same rounds; ${ROUNDS} rounds each, ${runs} runs`,
      ...(busy > 0.95 ? ['load and model were the limit: the server was not saturated'] : []),
    ].join('; '),
  })
}
