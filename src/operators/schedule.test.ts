import { expect, test } from 'vitest'
import type { QueuedDelivery } from '../domain/supervision/delivery.ts'
import { planDeliveries, retryDelay } from './schedule.ts'

const delivery = (n: number, sessionId: string | null, nextTryAt = 0): QueuedDelivery => ({
  channel: 'slack',
  n,
  item:
    sessionId === null
      ? null
      : { n, at: 0, kind: 'session', id: sessionId, sessionId, owner: 'ada', agent: 'tester', status: 'active' },
  count: 1,
  attempts: 0,
  nextTryAt,
})

const plan = (deliveries: QueuedDelivery[], inFlight: number[] = [], now = 1_000_000) => {
  const { groups, waitMs } = planDeliveries(deliveries, new Set(inFlight), now)
  return { due: groups.map(([one]) => one?.n), waitMs }
}

test('each session has one delivery at a time, the oldest first, and a summary waits for nobody', () => {
  const all = [delivery(1, 'a'), delivery(2, 'b'), delivery(3, 'a'), delivery(4, null)]

  expect(plan(all)).toEqual({ due: [1, 2, 4], waitMs: null })
  expect(plan(all, [1])).toEqual({ due: [2, 4], waitMs: null })
  expect(plan(all.slice(1), [2, 4])).toEqual({ due: [3], waitMs: null })
  expect(plan([])).toEqual({ due: [], waitMs: null })
})

test('a delivery that failed holds up its session alone', () => {
  const all = [delivery(1, 'a', 1_005_000), delivery(2, 'a'), delivery(3, 'b', 1_003_000), delivery(4, 'c')]

  expect(plan(all)).toEqual({ due: [4], waitMs: 3_000 })
  expect(plan(all, [], 1_003_000)).toEqual({ due: [3, 4], waitMs: 2_000 })
})

test('few are under way at the same time', () => {
  const all = Array.from({ length: 20 }, (_, i) => delivery(i, `session ${i}`))

  expect(plan(all).due.length).toBe(8)
  expect(plan(all, [0, 1, 2]).due).toEqual([3, 4, 5, 6, 7])
})

test('a clock that was set back delays nothing for longer than ten minutes', () => {
  expect(plan([delivery(1, 'a', 5_000_000)])).toEqual({ due: [], waitMs: 600_000 })
})

test('tries come 1, 2, 4 … 30 seconds apart, or later if the service asks for it', () => {
  expect([1, 2, 3, 4, 5, 6, 60].map((failures) => retryDelay(failures, 0))).toEqual([
    1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000,
  ])
  expect([retryDelay(1, 7_000), retryDelay(6, 7_000), retryDelay(1, 86_400_000)]).toEqual([7_000, 30_000, 600_000])
})

test('what a channel holds back lets the rest of its session pass', () => {
  const all = [delivery(1, 'a'), delivery(2, 'a'), delivery(3, 'a', 1_002_000), delivery(4, 'b')]
  const held = ({ n }: QueuedDelivery) => (n === 1 ? 1_060_000 : 0)
  const planned = (inFlight: number[], now = 1_000_000) => {
    const { groups, waitMs } = planDeliveries(all, new Set(inFlight), now, { notBefore: held })
    return { due: groups.map(([one]) => one?.n), waitMs }
  }

  expect(planned([])).toEqual({ due: [2, 4], waitMs: null })
  // Two of one session are never under way together, also when the hold ends meanwhile.
  expect(planned([2], 1_060_000)).toEqual({ due: [4], waitMs: null })
  expect(planDeliveries(all.slice(0, 1), new Set(), 1_000_000, { notBefore: held })).toEqual({
    groups: [],
    waitMs: 60_000,
  })
})

test('what is shown together goes at once, one such message at a time, and the rest does not wait for it', () => {
  const all = [delivery(1, 'a'), delivery(2, 'b'), delivery(3, 'b', 1_005_000), delivery(4, 'a'), delivery(5, 'c')]
  const isTogether = ({ n }: QueuedDelivery) => n < 4
  const planned = (inFlight: number[]) => {
    const { groups, waitMs } = planDeliveries(all, new Set(inFlight), 1_000_000, { isTogether })
    return { groups: groups.map((group) => group.map(({ n }) => n)), waitMs }
  }

  expect(planned([])).toEqual({ groups: [[1, 2], [4], [5]], waitMs: 5_000 })
  expect(planned([1, 2, 4])).toEqual({ groups: [[5]], waitMs: null })
})
