import { expect, test } from 'vitest'
import { unlessAborted } from './unless-aborted.ts'

test('what fails after the signal aborted fails unheard, and not the process', async () => {
  const unheard: unknown[] = []
  const note = (error: unknown) => void unheard.push(error)
  process.on('unhandledRejection', note)
  const work = Promise.withResolvers<string>()

  const given = unlessAborted(work.promise, AbortSignal.abort())
  await expect(given).rejects.toThrow('The delivery took too long.')
  work.reject(new Error('too late'))
  await new Promise((resolve) => setImmediate(resolve))

  process.off('unhandledRejection', note)
  expect(unheard).toEqual([])
})
