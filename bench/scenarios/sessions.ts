import { join } from 'node:path'
import { type Figure, figureOf, round } from '../figure.ts'
import { liveMemory, PROBE_FILE } from '../live-memory.ts'
import type { LoadPlan, Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

const LIVE_SESSIONS = 100
const MESSAGES_EACH = 50
const SMALL_RUNS: LoadPlan = { parallel: 20, message: 'full', tokens: 50 }

/** The memory of live sessions. `growth.ts` measures what many sessions and long ones cost the next run. */
export const sessions: Scenario = {
  name: 'sessions',
  run: async (stage) => [await liveSessions(stage)],
}

async function liveSessions(stage: Stage): Promise<Figure> {
  const file = join(stage.folder('memory'), 'alive.json')
  const server = await stage.server({
    nodeArgs: ['--expose-gc', '--import', join(import.meta.dirname, '..', 'memory-probe.ts')],
    env: { [PROBE_FILE]: file },
  })
  // Warms up with few sessions: with many, a bounded cache could drop them in favour of those that are measured.
  await stage.load(server, { ...SMALL_RUNS, runs: 1000, threads: SMALL_RUNS.parallel })
  const before = await liveMemory(server.child.pid, file)
  const result = await stage.load(server, {
    ...SMALL_RUNS,
    runs: (LIVE_SESSIONS * MESSAGES_EACH) / 2,
    threads: LIVE_SESSIONS,
  })
  const after = await liveMemory(server.child.pid, file)
  await server.stop()
  return figureOf({
    scenario: 'sessions',
    what: `${LIVE_SESSIONS} live sessions of ${MESSAGES_EACH} messages`,
    base: `${round(before.aliveMb)} MB`,
    server: `${round(after.aliveMb)} MB`,
    value: after.aliveMb - before.aliveMb,
    limit: 6,
    unit: ' MB',
    problems: result.problems,
    note: `alive after a forced collection, main thread; resident memory ${round(before.rssMb)} → ${round(after.rssMb)} MB`,
  })
}
