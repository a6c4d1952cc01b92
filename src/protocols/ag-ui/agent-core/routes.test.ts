import { describe, expect, test } from 'vitest'
import { outline, type TestEngineOptions } from '../../../engine/testing/open-engine.ts'
import { operatorToken, startServer, until } from '../../../http/testing/server-fixture.ts'
import { operator, riskyWork } from '../../shared/answer/testing/asking-gate.ts'
import { openRoutes } from '../../shared/answer/testing/open-routes.ts'
import { createGatedModel, stop, text } from '../../testing/gated-model.ts'
import { eventsOf, refusalOf } from '../../testing/open-doors.ts'
import { readSse } from '../../testing/sse-reader.ts'
import { createAgentCoreRoutes, createPing, SESSION_HEADER } from './routes.ts'

const open = (options?: TestEngineOptions) => openRoutes(createAgentCoreRoutes, options)
const input = (id: string, more: Record<string, unknown> = {}) => ({
  protocolVersion: '1.0',
  threadId: 'thread',
  runId: `run-${id}`,
  messages: [{ id, role: 'user', content: `text of ${id}` }],
  ...more,
})
const inSession = (id: string, more = {}) => ({ [SESSION_HEADER]: id, ...more })
const eventsIn = async (response: Response) => eventsOf(await readSse(response).rest())

describe('POST /invocations', () => {
  test('runs the default agent in the session that the body names', async () => {
    await using doors = await open()

    const events = await eventsIn(await doors.post('/invocations', input('m1')))

    expect(outline(events)).toEqual([
      'RUN_STARTED',
      'STEP_STARTED step_1',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT Hello.',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED step_1',
      'RUN_FINISHED success',
    ])
    expect(await doors.engine.sessions.find('local_user', 'thread')).not.toBeNull()
  })

  test('the header names the session, and the client hears its own threadId', async () => {
    await using doors = await open()

    const one = await eventsIn(await doors.post('/invocations', input('m1'), inSession('runtime-1')))
    const two = await eventsIn(
      await doors.post('/invocations', input('m2', { threadId: 'other' }), inSession('runtime-1')),
    )

    expect([one[0], two[0]]).toMatchObject([{ threadId: 'thread' }, { threadId: 'other' }])
    const session = await doors.engine.sessions.get('local_user', 'runtime-1')
    const messages = await doors.engine.messages.page(session.id, 100)
    expect(messages.filter(({ role }) => role === 'user').map(({ id }) => id)).toEqual(['m1', 'm2'])
    expect(await doors.engine.sessions.find('local_user', 'thread')).toBeNull()
  })

  test('asks a person in the words of AG-UI, and takes the answer of one who may give it', async () => {
    await using doors = await open(riskyWork)
    const asked = await eventsIn(await doors.post('/invocations', input('m1'), inSession('runtime-1')))
    const [approval] = await doors.approvals.list({ by: operator, limit: 1 })
    expect(asked.at(-1)).toMatchObject({ outcome: { type: 'interrupt', interrupts: [{ id: approval?.id }] } })

    const resume = [{ interruptId: approval?.id, status: 'resolved', payload: { approved: true } }]
    const body = input('m2', { messages: [], resume })
    const mine = await refusalOf(await doors.post('/invocations', body, inSession('runtime-1')))
    expect(mine).toEqual({ status: 403, code: 'forbidden' })
    const token = { Authorization: `Bearer ${operatorToken.token}` }
    const events = await eventsIn(await doors.post('/invocations', body, inSession('runtime-1', token)))
    expect(outline(events).at(-1)).toBe('RUN_FINISHED success')

    const session = await doors.engine.sessions.get('local_user', 'runtime-1')
    const messages = await doors.engine.messages.page(session.id, 10)
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'text of m1'],
      ['assistant', 'May I?'],
      ['tool', 'Sent.'],
      ['assistant', 'Done.'],
    ])
  })

  test('with the header the body needs no threadId', async () => {
    await using doors = await open()
    const { threadId: _thread, ...body } = input('m1')

    const [started] = await eventsIn(await doors.post('/invocations', body, inSession('runtime-1')))

    expect(started).toMatchObject({ type: 'RUN_STARTED', threadId: 'runtime-1' })
    expect(await refusalOf(await doors.post('/invocations', body))).toEqual({ status: 400, code: 'invalid_request' })
  })

  test('refuses a header that is not an id, and a body that is not an input', async () => {
    await using doors = await open()

    expect(await refusalOf(await doors.post('/invocations', input('m1'), inSession('x'.repeat(129))))).toEqual({
      status: 400,
      code: 'malformed_id',
    })
    expect(await refusalOf(await doors.post('/invocations', [1], inSession('runtime-1')))).toEqual({
      status: 400,
      code: 'invalid_request',
    })
  })
})

describe('GET /ping', () => {
  test('says whether a run is active', async () => {
    const model = createGatedModel()
    await using doors = await open({ model })
    const status = async () => Reflect.get(Object(await (await doors.get('/ping')).json()), 'status')

    expect(await status()).toBe('Healthy')
    await doors.start('work')
    expect(await status()).toBe('HealthyBusy')
    await until(() => model.requests.length === 1)
    model.say(text('Done.'), stop)
    await until(() => doors.engine.stats().activeRuns === 0)
    expect(await status()).toBe('Healthy')
  })

  test('needs no credential where all else does', async () => {
    await using doors = await open()
    const { engine, approvals, clock, attachments, links } = doors
    await using server = await startServer({
      routes: createAgentCoreRoutes({ engine, approvals, clock, attachments, links }),
      auth: { tokenRequired: true },
    })

    expect((await fetch(`${server.url}/ping`)).status).toBe(200)
    expect((await fetch(`${server.url}/invocations`, { method: 'POST' })).status).toBe(401)
  })

  test('tells when the status last changed, also when it changed unseen', () => {
    let now = 1_000_900
    const stats = {
      activeRuns: 0,
      queuedRuns: 0,
      readers: 0,
      runsStarted: 0,
      runsFinished: {},
      tokens: { input: 0, output: 0 },
      takenOver: {},
      replica: 'one',
      draining: false,
    }
    const ping = createPing({ stats: () => stats }, { now: () => now })
    const at = (ms: number) => {
      now = ms
      return ping()
    }

    expect(at(1_005_000)).toEqual({ status: 'Healthy', time_of_last_update: 1_000 })
    Object.assign(stats, { activeRuns: 1, runsStarted: 1 })
    expect(at(1_010_000)).toEqual({ status: 'HealthyBusy', time_of_last_update: 1_010 })
    expect(at(1_015_000)).toEqual({ status: 'HealthyBusy', time_of_last_update: 1_010 })
    Object.assign(stats, { activeRuns: 0 })
    expect(at(1_020_000)).toEqual({ status: 'Healthy', time_of_last_update: 1_020 })
    Object.assign(stats, { runsStarted: 2 })
    expect(at(1_025_000)).toEqual({ status: 'Healthy', time_of_last_update: 1_025 })
  })
})
