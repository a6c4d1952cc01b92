import { expect, test } from 'vitest'
import { nearestByMeaning } from './nearest-by-meaning.ts'
import { quantize } from './quantize.ts'

/** What a store promises, over a map. */
function storeOf(kept: ReadonlyMap<string, Float32Array>) {
  const small = new Map([...kept].map(([id, vector]) => [id, quantize(vector)]))
  const asked: { codes: number; bytes: number; floats: number } = { codes: 0, bytes: 0, floats: 0 }
  const pick = <T>(ids: readonly string[], read: (one: ReturnType<typeof quantize>) => T): Map<string, T> =>
    new Map(
      ids.flatMap((id) => {
        const one = small.get(id)
        return one === undefined ? [] : [[id, read(one)] as const]
      }),
    )
  const apart = (a: Uint8Array, b: Uint8Array) =>
    a.reduce((sum, byte, i) => sum + (byte ^ (b[i] ?? 0)).toString(2).replaceAll('0', '').length, 0)
  return {
    asked,
    nearest: async (_index: string, code: Uint8Array, most: number) => {
      asked.codes = most
      return [...small]
        .map(([id, one]) => ({ id, bits: apart(code, one.code) }))
        .sort((a, b) => a.bits - b.bits || (a.id < b.id ? -1 : 1))
        .slice(0, most)
        .map(({ id }) => id)
    },
    bytesOf: async (_index: string, ids: readonly string[]) => {
      asked.bytes = ids.length
      return pick(ids, ({ bytes }) => bytes)
    },
    floatsOf: async (_index: string, ids: readonly string[]) => {
      asked.floats = ids.length
      return pick(ids, ({ floats }) => floats)
    },
  }
}

/** Numbers between -1 and 1 that are always the same. */
function createNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  }
}

test('the nearest passage comes first, with the cosine of the angle, and equals by their id', async () => {
  const store = storeOf(
    new Map([
      ['far', Float32Array.of(-1, 1, 0)],
      ['b', Float32Array.of(2, 2, 0)],
      ['a', Float32Array.of(7, 7, 0)],
      ['same', Float32Array.of(0.3, 0, 0)],
      ['nothing', new Float32Array(3)],
    ]),
  )

  const found = await nearestByMeaning(store, 'index', Float32Array.of(5, 0, 0))

  expect(found.map(({ id, score }) => [id, Number(score.toFixed(2))])).toEqual([
    ['same', 1],
    ['a', 0.71],
    ['b', 0.71],
    ['nothing', 0],
    ['far', -0.71],
  ])
})

test('of many passages the small sizes choose those that the large one compares', async () => {
  const number = createNumbers(7)
  const random = () => Float32Array.from({ length: 128 }, number)
  const kept = new Map(Array.from({ length: 3_000 }, (_, i) => [`p${String(i).padStart(4, '0')}`, random()]))
  const question = random()
  // Between the question and something else, so nearer than chance.
  for (let i = 0; i < 20; i += 1) {
    const noise = random()
    kept.set(
      `near${i}`,
      question.map((value, at) => value + (noise[at] ?? 0)),
    )
  }
  const store = storeOf(kept)

  const found = await nearestByMeaning(store, 'index', question)

  const exact = [...(await store.floatsOf('index', [...kept.keys()]))]
    .map(([id, vector]) => ({ id, cosine: vector.reduce((sum, value, i) => sum + value * (question[i] ?? 0), 0) }))
    .sort((a, b) => b.cosine - a.cosine)
    .map(({ id }) => id)
  expect(found).toHaveLength(50)
  expect(found.slice(0, 20).map(({ id }) => id)).toEqual(exact.slice(0, 20))
  expect(store.asked).toMatchObject({ codes: 1_000, bytes: 1_000 })
})

test('an index without vectors has no nearest', async () => {
  expect(await nearestByMeaning(storeOf(new Map()), 'index', Float32Array.of(1))).toEqual([])
})
