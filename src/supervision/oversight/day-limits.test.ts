import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { DayLimitSettings } from '../../domain/settings/identity-settings.ts'
import { createManualClock } from '../../http/testing/server-fixture.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import type { UsageSum } from '../../store/ports/usage.ts'
import { createDayLimits } from './day-limits.ts'

const sum = (owner: string, values: Partial<UsageSum> = {}): UsageSum => ({
  ...{ key: owner, agent: '', provider: 'openai', model: 'gpt', runs: 1, failed: 0, cancelled: 0, took: '' },
  ...{ input: 0, output: 0, cachedInput: 0, cacheWrite: 0, reasoning: 0 },
  ...values,
})

function setUp(limits: Partial<DayLimitSettings>) {
  const clock = createManualClock()
  const shared = createLocalShared(clock)
  let stored: UsageSum[] = []
  let reads = 0
  const deps = {
    limits: { default: {}, groups: {}, users: {}, ...limits },
    prices: { currency: 'EUR', models: { 'openai/gpt': { input: 1, output: 2 } } },
    usage: {
      sums: async () => {
        reads += 1
        return stored
      },
    },
    clock,
    logger: silentLogger,
  }
  const open = (more = shared, isKept = false) => createDayLimits({ ...deps, shared: more, isKept })
  const dayLimits = open()
  function store(sums: UsageSum[]): void {
    stored = sums
  }
  /** `taken`, or what is refused. */
  async function start(
    owner: string,
    groups: string[] = [],
    { isTaken = true, at = dayLimits } = {},
  ): Promise<unknown> {
    try {
      const settle = await at.admit({ owner, groups })
      settle(isTaken)
      return 'taken'
    } catch (error) {
      return error instanceof ServerError ? [error.code, error.details.limit] : error
    }
  }
  return { clock, dayLimits, start, open, store, reads: () => reads }
}

const over = (limit: string) => ['quota_exceeded', limit]

describe('what a user may use in a day', () => {
  test('is refused beyond it, with what is used up and when it starts again', async () => {
    const { dayLimits, start, clock } = setUp({ default: { runs: 2 } })

    expect([await start('ada'), await start('ada'), await start('ada'), await start('bob')]).toEqual([
      'taken',
      'taken',
      over('runs'),
      'taken',
    ])
    await expect(dayLimits.admit({ owner: 'ada' })).rejects.toMatchObject({
      message:
        'You have used 2 of 2 runs for today. It starts again at 2027-01-16T00:00:00.000Z. What waits for an answer can still be answered.',
      details: {
        ...{ limit: 'runs', used: 2, allowed: 2, resets_at: '2027-01-16T00:00:00.000Z' },
        retry_after_seconds: 16 * 3600,
      },
    })
    clock.advance(16 * 3600_000)
    expect(await start('ada')).toBe('taken')
  })

  test('holds for requests that come together, and one that is not taken does not count', async () => {
    const { start, dayLimits } = setUp({ default: { runs: 3 } })
    const together = await Promise.all(Array.from({ length: 10 }, () => start('ada')))
    expect(together.filter((one) => one === 'taken').length).toBe(3)
    const refused = await Promise.allSettled([1, 2, 3].map(() => dayLimits.admit({ owner: 'ada' })))
    expect(refused.map((one) => one.status === 'rejected' && one.reason.details.used)).toEqual([3, 3, 3])

    expect(await start('bob', [], { isTaken: false })).toBe('taken')
    expect([await start('bob'), await start('bob'), await start('bob'), await start('bob')]).toEqual([
      ...['taken', 'taken', 'taken'],
      over('runs'),
    ])
  })

  test('counts the runs of all processes, and after a restart those that are stored', async () => {
    const { clock, start, open, store } = setUp({ default: { runs: 3 } })
    const other = open()
    expect([await start('ada'), await start('ada', [], { at: other }), await start('ada')]).toEqual([
      'taken',
      'taken',
      'taken',
    ])
    expect(await start('ada', [], { at: other })).toEqual(over('runs'))

    store([sum('ada', { runs: 3 })])
    expect(await start('ada', [], { at: open(createLocalShared(clock)) })).toEqual(over('runs'))
  })

  test.each([true, false])('a run that a person answers is one run, however often (kept: %s)', async (isKept) => {
    const { clock, start, open, store } = setUp({ default: { runs: 2 } })
    const at = open(createLocalShared(clock), isKept)
    expect(await start('ada', [], { at })).toBe('taken')
    // It asked three times. Each answer made a run of its own in the store.
    store([sum('ada', { runs: 4 })])
    clock.advance(60_000)

    expect((await at.show({ owner: 'ada' })).used.runs).toBe(1)
    expect([await start('ada', [], { at }), await start('ada', [], { at })]).toEqual(['taken', over('runs')])
  })

  test('tokens and cost count when runs have ended, a few seconds late', async () => {
    const { clock, start, store, reads } = setUp({ default: { tokens: 1_000_000, cost: 3 } })
    expect(await start('ada')).toBe('taken')
    store([
      sum('ada', { input: 400_000, output: 600_000 }),
      sum('bob', { input: 900_000 }),
      sum('cy', { output: 1_500_001 }),
    ])
    expect([await start('ada'), reads()]).toEqual(['taken', 1])

    clock.advance(5_000)
    await start('ada')
    expect([await start('ada'), await start('bob'), await start('cy'), reads()]).toEqual([
      over('tokens'),
      'taken',
      over('tokens'),
      2,
    ])
  })

  test('after a pause nobody is judged by what was used before it', async () => {
    const { clock, start, store, reads } = setUp({ default: { tokens: 1_000 } })
    expect(await start('ada')).toBe('taken')
    store([sum('ada', { input: 1_000 })])

    clock.advance(60_000)
    expect([await start('ada'), reads()]).toEqual([over('tokens'), 2])
  })

  test('costs what the prices say, and a model without a price is not refused', async () => {
    const { dayLimits, start, store } = setUp({ default: { cost: 3 } })
    store([
      sum('ada', { input: 1_000_000, output: 1_000_000 }),
      sum('bob', { input: 9_000_000 }),
      sum('bob', { model: 'unknown', runs: 0, input: 1 }),
    ])
    expect([await start('ada'), await start('bob')]).toEqual([over('cost'), 'taken'])
    expect(await dayLimits.show({ owner: 'bob' })).toEqual({
      allowed: { runs: null, tokens: null, cost: 3 },
      // One had ended before this process began to count.
      used: { runs: 2, tokens: 9_000_001, cost: null },
      resetsAt: Date.parse('2027-01-16T00:00:00Z'),
      currency: 'EUR',
    })
  })

  test('a user’s own limit wins over those of groups, and the highest group over the default', async () => {
    const { dayLimits } = setUp({
      default: { runs: 1, tokens: 10 },
      groups: { staff: { runs: 5 }, sre: { runs: 9, cost: 1 }, root: { runs: null } },
      users: { 'corp:ada': { runs: 2 } },
    })
    const allowed = async (owner: string, ...groups: string[]) => (await dayLimits.show({ owner, groups })).allowed
    expect(await allowed('bob')).toEqual({ runs: 1, tokens: 10, cost: null })
    expect(await allowed('bob', 'staff', 'sre')).toEqual({ runs: 9, tokens: 10, cost: 1 })
    expect(await allowed('bob', 'staff', 'root')).toEqual({ runs: null, tokens: 10, cost: null })
    expect(await allowed('corp:ada', 'root')).toEqual({ runs: 2, tokens: 10, cost: null })
    expect(await allowed('__proto__', 'constructor')).toEqual({ runs: 1, tokens: 10, cost: null })
  })

  test('nobody without a limit costs a look', async () => {
    const { start, reads } = setUp({ users: { ada: { runs: 1 } } })
    expect([await start('bob'), reads()]).toEqual(['taken', 0])
  })

  test('0 means that nothing may be started', async () => {
    const { start } = setUp({ default: { runs: 10 }, users: { eve: { runs: 0 } } })
    expect(await start('eve')).toEqual(over('runs'))
  })
})
