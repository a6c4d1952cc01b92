import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../domain/logger.ts'
import { openReplicaBoard } from '../../replicas/replica-board.ts'
import { createSharedCounts, ownCounts } from '../../replicas/shared-counts.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { createManualClock } from '../testing/server-fixture.ts'
import { createUsageLimits, createWindowCounter } from './usage-limits.ts'

const own = { kind: 'posts', counts: ownCounts }

describe('window counter', () => {
  test('allows a key up to its limit, then says how long to wait, then starts again', () => {
    const clock = createManualClock()
    const counter = createWindowCounter({ ...own, limit: 2, windowMs: 60_000, clock })

    counter.hit('a')
    expect(counter.waitFor('a')).toBeNull()
    counter.hit('a')
    expect(counter.waitFor('a')).toBe(60)
    expect(counter.waitFor('b')).toBeNull()
    clock.advance(59_500)
    expect(counter.waitFor('a')).toBe(1)
    clock.advance(500)
    expect(counter.waitFor('a')).toBeNull()
  })

  test('forgets the oldest key when there are too many', () => {
    const counter = createWindowCounter({
      ...own,
      limit: 1,
      windowMs: 60_000,
      clock: createManualClock(),
      maxKeys: 2,
    })

    for (const key of ['a', 'b', 'c']) counter.hit(key)

    expect(['a', 'b', 'c'].map((key) => counter.waitFor(key))).toEqual([null, 60, 60])
  })
})

describe('limits of two replicas', () => {
  const ada = { owner: 'ada', role: 'user', hasToken: true } as const
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  function setUp() {
    const clock = createManualClock()
    const shared = createLocalShared(clock)
    const open = (owner: string) => {
      const board = openReplicaBoard({ shared, owner, clock, logger: silentLogger })
      const counts = createSharedCounts(shared, board)
      const limits = createUsageLimits({ postsPerMinute: 100, streamsPerUser: 3 }, clock, counts)
      return { limits, board }
    }
    const pass = async (ms: number) => {
      await settle()
      clock.advance(ms)
      await settle()
    }
    return { a: open('A'), b: open('B'), pass }
  }

  test('hold together: of twice as many posts, at most those of a quarter of a second are too many', async () => {
    const { a, b, pass } = setUp()
    let taken = 0
    const post = (limits: typeof a.limits) => {
      try {
        limits.takePost(ada)
        taken += 1
      } catch (error) {
        expect(error).toMatchObject({ code: 'rate_limited', details: { retry_after_seconds: expect.any(Number) } })
      }
    }
    // 40 posts a second at each, for three seconds.
    for (let tick = 0; tick < 120; tick += 1) {
      post(a.limits)
      post(b.limits)
      await pass(25)
    }
    expect(taken).toBeGreaterThanOrEqual(100)
    expect(taken).toBeLessThanOrEqual(120)

    await pass(60_000)
    taken = 0
    post(b.limits)
    expect(taken).toBe(1)
  })

  test('hold alone at each while the store does not answer', async () => {
    const clock = createManualClock()
    const counter = createWindowCounter({
      kind: 'posts',
      limit: 3,
      windowMs: 60_000,
      clock,
      counts: { add: () => Promise.reject(new Error('away')) },
    })
    for (let i = 0; i < 3; i += 1) {
      expect(counter.waitFor('a')).toBeNull()
      counter.hit('a')
      clock.advance(300)
      await settle()
    }
    expect(counter.waitFor('a')).not.toBeNull()
  })

  test('count the open streams of both', async () => {
    const { a, b, pass } = setUp()
    const stream = () => new EventEmitter() as unknown as ServerResponse
    a.limits.takeStream(ada, stream())
    const second = stream()
    a.limits.takeStream(ada, second)
    await pass(2_000)
    await pass(2_000)

    b.limits.takeStream(ada, stream())
    expect(() => b.limits.takeStream(ada, stream())).toThrow('more than 3 open streams')
    b.limits.takeStream({ ...ada, owner: 'eve' }, stream())
    second.emit('close')
    await pass(2_000)
    await pass(2_000)
    b.limits.takeStream(ada, stream())
    await a.board.close()
    await b.board.close()
  })
})
