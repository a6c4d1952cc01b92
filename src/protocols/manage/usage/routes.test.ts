import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { createNoonClock } from '../../../domain/testing/noon-clock.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { createDayLimits } from '../../../supervision/oversight/day-limits.ts'
import { createReadUsage } from '../../../supervision/oversight/usage-report.ts'
import { asAda, asOperator, openDoors, refusalOf } from '../../testing/open-doors.ts'
import { createUsageRoutes } from './routes.ts'

const answer = { parts: [{ text: 'Hello.' }, { usage: { input: 1_000, output: 200, cached: 400 } }] }
const noon = createNoonClock()
const today = () => new Date(noon.now()).toISOString().slice(0, 10)

async function openUsage(models: Record<string, { input: number; output: number; cachedInput?: number }> = {}) {
  const doors = await openDoors({ answers: [answer, answer], clock: noon }, ({ store, oversight, clock }) =>
    createUsageRoutes({
      readUsage: createReadUsage({
        usage: store.usage,
        sessions: store.sessions,
        prices: { currency: 'EUR', models },
        models: [{ provider: 'openai', name: 'new' }],
      }),
      oversight,
      dayLimits: createDayLimits({
        ...{ limits: { default: { runs: 10 }, groups: {}, users: {} }, prices: { currency: 'EUR', models } },
        ...{ usage: store.usage, shared: createLocalShared(clock), isKept: false, clock, logger: silentLogger },
      }),
      clock,
    }),
  )
  for (const owner of ['ada', 'bob']) await doors.events(await doors.start('Hi', { owner }))
  return doors
}

const well = { failed_runs: 0, cancelled_runs: 0, p50_ms: expect.any(Number), p95_ms: expect.any(Number) }
const counts = {
  ...well,
  input_tokens: 2_000,
  output_tokens: 400,
  cached_input_tokens: 800,
  cache_write_input_tokens: 0,
  reasoning_tokens: 0,
}

test('GET /me/limits says what a user has left, to themselves', async () => {
  await using doors = await openUsage({ 'scripted/*': { input: 10, output: 100, cachedInput: 1 } })
  const mine = await (await doors.get('/me/limits', asAda)).json()
  expect(mine).toEqual({
    day: today(),
    resets_at: expect.stringMatching(/T00:00:00\.000Z$/),
    runs: { used: 1, allowed: 10 },
    tokens: { used: 1_200, allowed: null },
    cost: { used: 0.0264, allowed: null, currency: 'EUR' },
  })
})

describe('GET /usage', () => {
  test('adds up tokens and cost by day', async () => {
    await using doors = await openUsage({ 'scripted/*': { input: 10, output: 100, cachedInput: 1 } })
    const sums = { runs: 2, ...counts, cost: 0.0528 }

    expect(await (await doors.get(`/usage?to=${today()}`, asOperator)).json()).toEqual({
      from: expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/),
      to: today(),
      by: 'day',
      rows: [{ key: today(), label: today(), ...sums }],
      total: sums,
      limit: null,
      currency: 'EUR',
      unpriced: [],
      prices: { 'scripted/script': { input: 10, output: 100, cached_input: 1, cache_write: 10 } },
    })
  })

  test('has the prices of models that agents use, before they were used', async () => {
    await using doors = await openUsage({ 'openai/*': { input: 2, output: 8 } })
    expect(await (await doors.get('/usage?from=2020-01-01&to=2020-01-01', asOperator)).json()).toMatchObject({
      prices: { 'openai/new': { input: 2, output: 8, cached_input: 2, cache_write: 2 } },
    })
  })

  test('is that of one session, and reading somebody else’s is on record', async () => {
    await using doors = await openUsage({ 'scripted/*': { input: 10, output: 100, cachedInput: 1 } })
    const [bob] = await doors.store.sessions.list({ owner: 'bob', limit: 1 })
    const half = {
      input_tokens: 1_000,
      output_tokens: 200,
      cached_input_tokens: 400,
      cache_write_input_tokens: 0,
      reasoning_tokens: 0,
    }
    const sums = { runs: 1, ...half, cost: 0.0264 }

    const ofBob = await doors.get(`/usage?by=session&session=${bob?.id}`, asOperator)
    expect(await ofBob.json()).toMatchObject({ rows: [{ key: bob?.id, ...sums }], total: sums })
    const [newest] = await doors.store.audit.newest(null, 1)
    expect(JSON.parse(newest?.text ?? '')).toMatchObject({ kind: 'operator_read', session: bob?.id })
    const ofNobody = await doors.get(`/usage?by=model&session=${crypto.randomUUID()}`, asOperator)
    expect(await ofNobody.json()).toMatchObject({ rows: [], total: { runs: 0, cost: 0 } })
  })

  test('counts our own models as free, and groups by owner, which is on record', async () => {
    await using doors = await openUsage()
    const { rows, total } = (await (await doors.get('/usage?by=owner&limit=1', asOperator)).json()) as {
      rows: { key: string }[]
      total: object
    }
    expect([rows.map(({ key }) => key), total]).toEqual([['ada'], { runs: 2, ...counts, cost: 0 }])
    const [newest] = await doors.store.audit.newest(null, 1)
    expect(JSON.parse(newest?.text ?? '')).toMatchObject({ kind: 'operator_list', details: { owner: '*' } })
  })

  test('is empty on a day without runs', async () => {
    await using doors = await openUsage()
    const none = {
      ...{ runs: 0, failed_runs: 0, cancelled_runs: 0, p50_ms: null, p95_ms: null },
      input_tokens: 0,
      output_tokens: 0,
      cached_input_tokens: 0,
      cache_write_input_tokens: 0,
      reasoning_tokens: 0,
      cost: 0,
    }
    expect(await (await doors.get('/usage?from=2020-02-29&to=2020-03-01&by=model', asOperator)).json()).toMatchObject({
      from: '2020-02-29',
      to: '2020-03-01',
      rows: [],
      total: none,
    })
  })

  test.each([
    ['from=2026-02-30', 'from'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['from=2025-01-01&to=2026-02-05', 'from'],
    ['to=today', 'to'],
    ['by=cost', 'by'],
    ['limit=0', 'limit'],
    ['session=mine', 'session'],
    ['by=agent&split=model', 'split'],
    ['split=day', 'split'],
  ])('refuses %s', async (query, pointer) => {
    await using doors = await openDoors({}, ({ store, oversight, clock }) =>
      createUsageRoutes({
        readUsage: createReadUsage({ ...store, prices: { currency: 'USD', models: {} }, models: [] }),
        oversight,
        dayLimits: {
          show: () => Promise.reject(new Error('nobody asks for it')),
          ofOnly: async () => null,
        },
        clock,
      }),
    )
    const response = await doors.get(`/usage?${query}`, asOperator)
    expect([response.status, await response.json()]).toMatchObject([400, { errors: [{ pointer }] }])
    expect(await refusalOf(await doors.get('/usage', asAda))).toEqual({ status: 403, code: 'forbidden' })
  })
})

test('a run that fails counts as one, at the model that it was to use', async () => {
  await using doors = await openDoors(
    { answers: [answer, { parts: [{ error: { code: 'model_failed', retryable: false } }] }], clock: noon },
    ({ store, oversight, clock }) =>
      createUsageRoutes({
        readUsage: createReadUsage({ ...store, prices: { currency: 'EUR', models: {} }, models: [] }),
        oversight,
        dayLimits: createDayLimits({
          ...{
            limits: { default: { cost: 2 }, groups: {}, users: { bob: { runs: 5 } } },
            prices: { currency: 'EUR', models: {} },
          },
          ...{ usage: store.usage, shared: createLocalShared(clock), isKept: false, clock, logger: silentLogger },
        }),
        clock,
      }),
  )
  for (const owner of ['ada', 'ada']) await doors.events(await doors.start('Hi', { owner }))
  const read = async (query: string) => await (await doors.get(`/usage?${query}`, asOperator)).json()
  const [agent] = doors.engine.agents.list
  expect(await read('by=model')).toMatchObject({
    rows: [{ key: 'scripted/script', runs: 2, failed_runs: 1, cancelled_runs: 0, p50_ms: expect.any(Number) }],
    limit: { owner: 'ada', runs: null, tokens: null, cost: 2 },
    unpriced: [],
  })
  expect(await read('split=agent')).toMatchObject({ rows: [{ key: today(), part: agent?.name, runs: 2 }] })
  expect(await read('split=model&agent=nobody')).toMatchObject({ rows: [], total: { runs: 0 } })
  expect(await read('owner=bob')).toMatchObject({ total: { runs: 0 }, limit: { owner: 'bob', runs: 5, cost: 2 } })
})

test('a model without a price has no cost and is named', async () => {
  const sum = {
    provider: 'openai',
    model: 'x',
    runs: 1,
    input: 1,
    output: 1,
    cachedInput: 0,
    cacheWrite: 0,
    reasoning: 0,
    ...{ agent: '', failed: 0, cancelled: 0, took: '' },
  }
  const unused = { ...sum, model: 'y', input: 0, output: 0 }
  const demo = { ...sum, provider: 'demo', model: 'demo' }
  const read = createReadUsage({
    usage: {
      sums: async () => [
        { key: 's1', ...sum },
        { key: 's1', ...demo },
        { key: 's2', ...demo },
      ],
      totals: async () => [
        { key: '', ...sum },
        { key: '', ...demo },
        // It failed before it used anything, so nobody misses its price.
        { key: '', ...unused },
      ],
    },
    sessions: { overview: async () => [] },
    prices: { currency: 'USD', models: {} },
    models: [],
  })
  const { rows, total, unpriced } = await read({ from: 0, to: 1, by: 'session', limit: 5 })

  expect(rows.map(({ key, label, cost }) => [key, label, cost])).toEqual([
    ['s1', 's1', null],
    ['s2', 's2', 0],
  ])
  expect([total.cost, unpriced]).toEqual([null, ['openai/x']])
})
