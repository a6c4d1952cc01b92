import { expect, test } from 'vitest'
import { createStartQueue } from './start-queue.ts'

test('four start at once; the others follow in order when one is done or has failed', async () => {
  const queue = createStartQueue()
  const begun: number[] = []
  const ends: ((error?: Error) => void)[] = []
  const started = Array.from({ length: 6 }, (_, i) =>
    queue(() => {
      begun.push(i)
      return new Promise<void>((resolve, reject) => {
        ends[i] = (error) => (error === undefined ? resolve() : reject(error))
      })
    }),
  )
  expect(begun).toEqual([0, 1, 2, 3])
  ends[2]?.(new Error('no luck'))
  await expect(started[2]).rejects.toThrow('no luck')
  expect(begun).toEqual([0, 1, 2, 3, 4])
  ends[0]?.()
  await started[0]
  expect(begun).toEqual([0, 1, 2, 3, 4, 5])
})
