import { expect, test } from 'vitest'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { createBatchQueue, queueLimits } from './batch-queue.ts'

function open(limits: Partial<typeof queueLimits>, sizeOf: (item: number) => number = () => 0) {
  const clock = createManualClock()
  const batches: number[][] = []
  const answers: ((isTaken: boolean) => void)[] = []
  const queue = createBatchQueue<number>({
    send: (items) => {
      batches.push([...items])
      return new Promise((resolve) => answers.push(resolve))
    },
    clock,
    sizeOf,
    limits: { ...queueLimits, everyMs: 1_000, ...limits },
  })
  return { clock, batches, answers, queue }
}

test('items are sent together after a while, or at once when there are many', async () => {
  const { clock, batches, answers, queue } = open({ batch: 3 })
  queue.add(1)
  queue.add(2)
  await clock.advance(999)
  expect(batches).toEqual([])
  await clock.advance(1)
  expect(batches).toEqual([[1, 2]])
  for (const n of [3, 4, 5, 6]) queue.add(n)
  // One batch at a time.
  expect(batches).toHaveLength(1)
  answers[0]?.(true)
  await clock.advance(0)

  expect(batches).toEqual([
    [1, 2],
    [3, 4, 5],
  ])
  expect(queue.counts).toEqual({ sent: 2, full: 0, failed: 0 })
})

test('a receiver that does not answer costs items, not memory', async () => {
  const { clock, batches, queue } = open({ waiting: 10, batch: 5 })
  for (let n = 0; n < 1_000; n += 1) queue.add(n)
  await clock.advance(60_000)

  expect([batches.length, queue.counts]).toEqual([1, { sent: 0, full: 985, failed: 0 }])
})

test('items that are large fill the queue and the batches sooner', async () => {
  const { clock, batches, answers, queue } = open({ waitingSize: 100, batchSize: 50 }, (n) => n)
  for (const n of [60, 30, 20, 10, 1]) queue.add(n)
  queue.add(80)
  await clock.advance(1_000)
  for (const i of [0, 1]) {
    answers[i]?.(true)
    await clock.advance(1_000)
  }
  // One that is larger than a batch goes alone. The limit is for those that wait.
  queue.add(70)

  expect(batches).toEqual([[60], [30, 20], [10, 1]])
  expect(queue.counts).toEqual({ sent: 3, full: 1, failed: 0 })
})

test('what a receiver refuses is counted, and the next batch is tried', async () => {
  const { clock, batches, answers, queue } = open({ batch: 2 })
  for (const n of [1, 2, 3, 4]) queue.add(n)
  answers[0]?.(false)
  await clock.advance(0)
  answers[1]?.(true)
  await clock.advance(0)

  expect([batches, queue.counts]).toEqual([
    [
      [1, 2],
      [3, 4],
    ],
    { sent: 2, full: 0, failed: 2 },
  ])
})

test('closing sends what is left', async () => {
  const { clock, batches, answers, queue } = open({ batch: 2 })
  for (const n of [1, 2, 3]) queue.add(n)
  const closing = queue.close(5_000)
  for (const i of [0, 1]) {
    await clock.advance(0)
    answers[i]?.(true)
  }
  await closing
  queue.add(4)

  expect([batches, queue.counts, clock.pending]).toEqual([[[1, 2], [3]], { sent: 3, full: 1, failed: 0 }, 0])
})

test('closing waits no longer than it may', async () => {
  const { clock, queue } = open({ batch: 2 })
  for (const n of [1, 2, 3]) queue.add(n)
  let isClosed = false
  const closing = queue.close(5_000).then(() => {
    isClosed = true
  })
  await clock.advance(4_999)
  expect(isClosed).toBe(false)
  await clock.advance(1)
  await closing

  expect(queue.counts).toEqual({ sent: 0, full: 1, failed: 0 })
})
