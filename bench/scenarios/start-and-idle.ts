import { execFileSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Figure, figureOf, round } from '../figure.ts'
import { median } from '../percentiles.ts'
import { rssMb } from '../process-stat.ts'
import type { Stage } from '../stage.ts'
import type { Scenario } from './scenario.ts'

const STARTS = 5
const IDLE_MS = 5000

/**
 * Time from the start of the launcher, on an empty data directory, to the first 200 on /ready: from source, and as published. The
 * first start of each fills the cache of compiled code and does not count.
 */
export const start: Scenario = {
  name: 'start',
  async run(stage) {
    return [
      await startFigure(stage, 'start to ready, a checkout', 1500),
      await startFigure(stage, 'start to ready, as published', 350, published(stage.folder('published'))),
    ]
  },
}

/** Builds the program and puts it where npm would: under `node_modules` the launcher uses the build. Returns the launcher. */
function published(folder: string): string {
  const root = join(import.meta.dirname, '../..')
  execFileSync(process.execPath, [join(root, 'scripts/build.ts')], { cwd: root })
  const place = join(folder, 'node_modules/quarterdeck')
  for (const name of ['bin', 'dist', 'package.json']) cpSync(join(root, name), join(place, name), { recursive: true })
  return join(place, 'bin/quarterdeck.js')
}

async function startFigure(stage: Stage, what: string, limit: number, script?: string): Promise<Figure> {
  const times: number[] = []
  for (let turn = 0; turn <= STARTS; turn += 1) {
    const server = await stage.server(script === undefined ? {} : { script })
    if (turn > 0) times.push(server.startMs)
    await server.stop()
  }
  return figureOf({
    scenario: 'start',
    what,
    server: times.map((time) => round(time)).join(', '),
    value: median(times),
    limit,
    unit: ' ms',
    note: `median of ${STARTS}, on one core`,
  })
}

export const idle: Scenario = {
  name: 'idle',
  async run(stage) {
    return [
      await idleFigure(stage, 'resident memory, idle, a checkout', 105),
      await idleFigure(stage, 'resident memory, idle, as published', 80, published(stage.folder('published'))),
    ]
  },
}

async function idleFigure(stage: Stage, what: string, limit: number, script?: string): Promise<Figure> {
  const server = await stage.server(script === undefined ? {} : { script })
  await delay(IDLE_MS)
  const memory = rssMb(server.child.pid)
  await server.stop()
  return figureOf({
    scenario: 'idle',
    what,
    server: `${round(memory)} MB`,
    value: memory,
    limit,
    unit: ' MB',
    note: `${IDLE_MS / 1000} s after it was ready, no request made but /ready`,
  })
}
