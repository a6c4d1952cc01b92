import { expect, test } from 'vitest'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { createReadStats } from '../../../start/read-stats.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createStatsRoutes } from './routes.ts'

test('GET /stats shows how busy the server is, to operators', async () => {
  const undo = new AsyncDisposableStack()
  const clock = createManualClock()
  await using doors = await openDoors({}, ({ engine, store }) =>
    createStatsRoutes({
      clock,
      readStats: createReadStats(
        { engine, store, clock, http: () => ({ connections: 4, inWork: 0, streams: 2 }) },
        undo,
      ),
    }),
  )
  const figure = expect.any(Number)
  await clock.advance(61_500)

  for (const _ of ['the first time', 'again']) {
    expect(await (await doors.get('/stats', asOperator)).json()).toEqual({
      at: '2026-11-15T00:01:01.500Z',
      uptime_seconds: 61,
      runs: { active: 0, queued: 0, waiting: 0 },
      streams: 2,
      connections: 4,
      memory: { rss: figure, heap_used: figure },
      loop_delay_ms: { p50: figure, p99: figure, max: figure },
      store: { bytes: figure, wal_bytes: 0 },
      inbox: 0,
    })
  }
  expect(await refusalOf(await doors.get('/stats', asAda))).toEqual({ status: 403, code: 'forbidden' })
  await undo.disposeAsync()
  expect(clock.pending).toBe(0)
})
