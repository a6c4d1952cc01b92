import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { testAgent } from '../../../engine/testing/open-engine.ts'
import { createNotes } from '../../../log/notes.ts'
import { createSchedules } from '../../../schedules/schedules.ts'
import { daily } from '../../../schedules/testing/open-schedules.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createScheduleRoutes } from './routes.ts'

async function openSchedules() {
  const doors = await openDoors({}, ({ engine, store, log, clock, ids }) => {
    const schedules = createSchedules({
      agents: [{ ...testAgent, schedules: [daily] }],
      ...{ engine, clock, ids, logger: silentLogger, channels: ['webhook:pager'] },
      notes: createNotes({ log, outbox: store.outbox, clock }),
      queue: async () => {},
      asHolder: (work) => work(),
      tellOthers: async () => {},
    })
    const begun = schedules.begin()
    return createScheduleRoutes({ schedules: () => begun.then(() => schedules) })
  })
  const post = (path: string, body: object, as = asOperator) => doors.post(path, body, as)
  const patch = (path: string, body: object) => {
    const headers = { ...asOperator, 'Content-Type': 'application/json' }
    return fetch(doors.url + path, { method: 'PATCH', body: JSON.stringify(body), headers })
  }
  const remove = (path: string) => fetch(doors.url + path, { method: 'DELETE', headers: asOperator })
  return { doors, post, patch, remove }
}

const hourly = { agent: 'tester', name: 'hourly', every_seconds: 3_600, message: 'Look.' }

test('a schedule is made, shown, paused, started by hand and removed', async () => {
  const { doors, post, patch, remove } = await openSchedules()
  await using _closed = doors
  const made = await post('/schedules', { ...hourly, notify: ['webhook:pager'] })
  expect([made.status, made.headers.get('location')]).toEqual([201, '/schedules/tester.hourly'])
  expect(await made.json()).toMatchObject({ id: 'tester.hourly', in_file: false, paused: false, runs: 0, past: [] })

  const run = await post('/schedules/tester.hourly/run', {})
  expect(run.status).toBe(202)
  expect(await run.json()).toMatchObject({ by: 'operator', outcome: 'started', status: 'queued', why: null })

  const paused = await patch('/schedules/tester.hourly', { paused: true })
  expect(await paused.json()).toMatchObject({ paused: true, next_at: null, past: [{ outcome: 'started' }] })
  const listed = (await (await doors.get('/schedules', asOperator)).json()) as { schedules: { id: string }[] }
  expect(listed.schedules.map(({ id }) => id)).toEqual(['tester.daily', 'tester.hourly'])

  expect((await remove('/schedules/tester.hourly')).status).toBe(204)
  expect(await refusalOf(await doors.get('/schedules/tester.hourly', asOperator))).toMatchObject({
    code: 'record_not_found',
  })
  const kept = await remove('/schedules/tester.daily')
  expect(await refusalOf(kept)).toMatchObject({ status: 409, code: 'conflict' })
})

test.each([
  ['daily', 'Did you mean tester.daily?'],
  ['tester.dayly', 'Did you mean tester.daily?'],
  ['something-else', 'GET /schedules lists them.'],
])('an unknown schedule %s is refused with advice: %s', async (id, advice) => {
  const { doors } = await openSchedules()
  await using _closed = doors
  const response = await doors.get(`/schedules/${id}`, asOperator)
  const detail = `There is no schedule "${id}". ${advice}`
  expect(await response.json()).toMatchObject({ status: 404, code: 'record_not_found', detail })
})

describe('POST /schedules refuses', () => {
  test.each([
    ['two kinds of times', { ...hourly, cron: '@daily' }, 'invalid_request'],
    ['no times', { agent: 'tester', name: 'never', message: 'Look.' }, 'invalid_request'],
    ['a cron expression with seconds', { ...hourly, every_seconds: undefined, cron: '* * * * * *' }, 'invalid_request'],
    ['an unknown zone', { ...hourly, every_seconds: undefined, cron: '@daily', time_zone: 'Mars' }, 'invalid_request'],
    ['a zone without cron', { ...hourly, time_zone: 'UTC' }, 'invalid_request'],
    ['a time that is over', { ...hourly, every_seconds: undefined, at: '2020-01-01T00:00:00Z' }, 'invalid_request'],
    ['an unknown channel', { ...hourly, notify: ['webhook:other'] }, 'invalid_request'],
    ['a name with a full stop', { ...hourly, name: 'a.b' }, 'invalid_request'],
    ['an unknown agent', { ...hourly, agent: 'other' }, 'agent_not_found'],
    ['a name that is taken', { ...hourly, name: 'daily' }, 'conflict'],
  ])('%s', async (_what, body, code) => {
    const { doors, post } = await openSchedules()
    await using _closed = doors
    expect(await refusalOf(await post('/schedules', body))).toMatchObject({ code })
  })

  test('users', async () => {
    const { doors, post } = await openSchedules()
    await using _closed = doors
    expect((await post('/schedules', hourly, asAda)).status).toBe(403)
    expect((await doors.get('/schedules', asAda)).status).toBe(403)
  })
})
