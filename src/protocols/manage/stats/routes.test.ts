import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { createReadStats } from '../../../app/read-stats.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { createServerState } from '../../../http/server-state.ts'
import { createManualClock } from '../../../models/testing/manual-clock.ts'
import { sampleAlert } from '../../../operators/testing/sample-waits.ts'
import { createOnlyReplica } from '../../../replicas/replica.ts'
import { openReplicaBoard } from '../../../replicas/replica-board.ts'
import { done } from '../../../store/contract/samples.contract.ts'
import { opened, step } from '../../../store/contract/supervised-samples.contract.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { openTestStore } from '../../../store/sqlite/testing/open-test-store.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createStatsRoutes } from './routes.ts'

const figure = expect.any(Number)
const http = () => ({ connections: 4, inWork: 0, streams: 2 })

test('GET /stats shows how busy the server is, to operators', async () => {
  const undo = new AsyncDisposableStack()
  const clock = createManualClock()
  const own = {
    clock,
    http,
    version: '1.2.3',
    state: createServerState(silentLogger),
    port: 8000,
    replica: createOnlyReplica({ shared: createLocalShared(clock), owner: 'a' }),
  }
  await using doors = await openDoors({}, ({ engine, store }) =>
    createStatsRoutes({ clock, readStats: createReadStats({ ...own, engine, store }, undo) }),
  )
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
      nudges: { sent: 0, worked: 0, share: null },
      replicas: [],
    })
  }
  expect(await refusalOf(await doors.get('/stats', asAda))).toEqual({ status: 403, code: 'forbidden' })
  await undo.disposeAsync()
  expect(clock.pending).toBe(0)
})

test('GET /stats says how many nudges were sent, and after how many the agent came back', async () => {
  await using undo = new AsyncDisposableStack()
  const clock = createManualClock()
  const own = {
    clock,
    http,
    version: '1.2.3',
    state: createServerState(silentLogger),
    port: 8000,
    replica: createOnlyReplica({ shared: createLocalShared(clock), owner: 'a' }),
  }
  const store = openTestStore()
  await using doors = await openDoors({ store }, ({ engine }) =>
    createStatsRoutes({ clock, readStats: createReadStats({ ...own, engine, store }, undo) }),
  )
  const { id: sessionId, owner } = await opened(store)
  const alerts = [
    { status: 'self_recovered', nudgeCount: 0 },
    { status: 'self_recovered', nudgeCount: 1 },
    { status: 'dismissed', nudgeCount: 1 },
    { status: 'escalated', nudgeCount: 2 },
  ] as const
  const ask = alerts.map((values, i) => sampleAlert({ ...values, id: `alert-${i}`, sessionId, owner }))
  await done(store, step(sessionId, 1, { ask }))

  expect(await (await doors.get('/stats', asOperator)).json()).toMatchObject({
    nudges: { sent: 4, worked: 1, share: 0.25 },
  })
})

test('GET /stats lists the servers on one store, and no longer one that has ended', async () => {
  await using undo = new AsyncDisposableStack()
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  const servers = ['a', 'b', 'older'].map((owner, i) => {
    const state = createServerState(silentLogger)
    state.advance(owner === 'b' ? 'shutting_down' : 'running')
    const board = openReplicaBoard({ shared, owner, clock, logger: silentLogger })
    return { clock, http, version: `1.2.${i}`, state, port: 8001 + i, replica: { owner, isShared: true, board } }
  })
  const [a, b, older] = servers
  if (a === undefined || b === undefined || older === undefined) throw new Error('three servers')
  undo.defer(() => a.replica.board.close())
  // A version that says less, or something else.
  older.replica.board.say('server', () => ({ port: 'eight thousand' }))
  undo.defer(() => older.replica.board.close())
  await using doors = await openDoors({}, ({ engine, store }) => {
    createReadStats({ ...b, engine, store }, undo)
    return createStatsRoutes({ clock, readStats: createReadStats({ ...a, engine, store }, undo) })
  })
  await clock.advance(4_500)
  const list = async () => {
    const { replicas } = (await (await doors.get('/stats', asOperator)).json()) as { replicas: unknown[] }
    return replicas
  }
  const both = { machine: hostname(), runs: { active: 0, queued: 0 }, streams: 2, connections: 4 }
  const here = { id: 'a', is_this: true, port: 8001, version: '1.2.0', state: 'running', uptime_seconds: 4 }

  expect(await list()).toEqual([
    { ...both, ...here, memory: { rss: figure } },
    {
      ...{ ...both, id: 'b', is_this: false, port: 8002, version: '1.2.1', state: 'shutting_down' },
      // As it was at the last look.
      ...{ uptime_seconds: 2, memory: { rss: figure } },
    },
  ])
  await b.replica.board.close()
  await clock.advance(2_000)
  expect(await list()).toMatchObject([{ id: 'a', uptime_seconds: 6 }])
})
