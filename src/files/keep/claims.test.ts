import { expect, test } from 'vitest'
import { createClaims } from './claims.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a claim waits for a removal that is under way, however it ends', async () => {
  for (const end of ['resolve', 'reject'] as const) {
    const claims = createClaims()
    const removal = Promise.withResolvers<boolean>()
    const sweep = claims.sweeping(async (remove) => void (await remove('a', () => removal.promise)))
    let isClaimed = false
    const claim = claims.claim('a').then(() => {
      isClaimed = true
    })
    const other = await claims.claim('b')

    await turn()
    expect(isClaimed).toBe(false)
    removal[end](end === 'resolve')
    await claim
    await sweep.catch(() => {})
    other[Symbol.dispose]()
  }
})

test('bytes that were claimed during a sweep are removed only by the next one', async () => {
  const claims = createClaims()
  const early = await claims.claim('early')
  const removed: string[] = []
  const round = () =>
    claims.sweeping(async (remove) => {
      const late = await claims.claim('late')
      for (const claim of [early, late]) claim[Symbol.dispose]()
      for (const sha256 of ['early', 'late', 'free']) {
        await remove(sha256, async () => {
          removed.push(sha256)
          return true
        })
      }
    })

  await round()
  expect(removed).toEqual(['free'])
  await round()
  expect(removed).toEqual(['free', 'early', 'free'])
})

test('bytes with two claims are free when both are released', async () => {
  const claims = createClaims()
  const [first, second] = [await claims.claim('a'), await claims.claim('a')]
  const sweep = async () => {
    let isRemoved = false
    await claims.sweeping(async (remove) => {
      isRemoved = await remove('a', async () => true)
    })
    return isRemoved
  }

  first[Symbol.dispose]()
  expect(await sweep()).toBe(false)
  second[Symbol.dispose]()
  expect(await sweep()).toBe(true)
})
