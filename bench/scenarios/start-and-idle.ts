import { setTimeout as delay } from 'node:timers/promises'
import { figureOf, round } from '../figure.ts'
import { median } from '../percentiles.ts'
import { rssMb } from '../process-stat.ts'
import type { Scenario } from './scenario.ts'

const STARTS = 5
const IDLE_MS = 5000

/** From the start of the process, on an empty data directory, to the first 200 on /ready. */
export const start: Scenario = {
  name: 'start',
  async run(stage) {
    const times: number[] = []
    for (let turn = 0; turn < STARTS; turn += 1) {
      const server = await stage.server()
      times.push(server.startMs)
      await server.stop()
    }
    return [
      figureOf({
        scenario: 'start',
        what: 'start to ready',
        server: times.map((time) => round(time)).join(', '),
        value: median(times),
        limit: 1000,
        unit: ' ms',
        note: `median of ${STARTS}, on one core`,
      }),
    ]
  },
}

export const idle: Scenario = {
  name: 'idle',
  async run(stage) {
    const server = await stage.server()
    await delay(IDLE_MS)
    const memory = rssMb(server.child.pid)
    await server.stop()
    return [
      figureOf({
        scenario: 'idle',
        what: 'resident memory, idle',
        server: `${round(memory)} MB`,
        value: memory,
        limit: 100,
        unit: ' MB',
        note: `${IDLE_MS / 1000} s after it was ready, no request made but /ready`,
      }),
    ]
  },
}
