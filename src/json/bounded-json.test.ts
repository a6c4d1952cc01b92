import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { boundedJson, NotJson } from './bounded-json.ts'

const anything = fc.anything({ withDate: true, withBoxedValues: true, withNullPrototype: true, withSparseArray: true })

describe('bounded JSON', () => {
  test('is the result of JSON.stringify, or exactly its beginning', () => {
    fc.assert(
      fc.property(anything, fc.nat(200), (value, limit) => {
        const whole = JSON.stringify(value)
        expect(boundedJson(value, 1_000_000)).toEqual({ text: whole, isCut: false })
        const { text, isCut } = boundedJson(value, limit)
        expect(text).toBe(whole?.slice(0, limit))
        expect(isCut).toBe((whole?.length ?? 0) > limit)
      }),
    )
  })

  test('does no more work than it shows, even for a huge value', () => {
    let looked = 0
    const row = { id: 1, name: 'x'.repeat(40) }
    const rows = new Proxy(
      Array.from({ length: 300_000 }, () => row),
      {
        get(target, key) {
          if (key !== 'length' && key !== 'toJSON') looked += 1
          return Reflect.get(target, key)
        },
      },
    )
    const { text, isCut } = boundedJson(rows, 5_000)
    expect([text?.length, isCut]).toEqual([5_000, true])
    expect(looked).toBeLessThan(100)
  })

  test('does not spend forever on values that JSON leaves out', () => {
    let looked = 0
    const empty = new Proxy(Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, 1])), {
      get(_, key) {
        if (key !== 'toJSON') looked += 1
      },
    })
    expect(boundedJson(empty, 100)).toEqual({ text: '', isCut: true })
    expect(looked).toBeLessThan(1_300)
    const endless: unknown[] = []
    endless.length = 4_294_967_295
    expect(boundedJson(endless, 11)).toEqual({ text: '[null,null,', isCut: true })
  })

  test('quotes no more of a long string than there is room for', () => {
    expect(boundedJson('🚢'.repeat(5_000_000), 4)).toEqual({ text: '"🚢\ud83d', isCut: true })
    expect(boundedJson({ a: '"'.repeat(10) }, 12)).toEqual({ text: '{"a":"\\"\\"\\"', isCut: true })
  })

  const cycle: Record<string, unknown> = {}
  cycle.self = [cycle]
  let deep: unknown = []
  for (let i = 0; i < 100_000; i += 1) deep = [deep]
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const thrower = {
    get secret() {
      throw new Error('password=hunter2')
    },
  }
  test.each([
    ['a BigInt', { a: 1n }, 'it holds a BigInt or refers to itself'],
    ['a cycle', cycle, 'it holds a BigInt or refers to itself'],
    ['endless nesting', deep, 'it is nested more than 1000 levels deep'],
    ['a dead proxy', { a: proxy }, 'it cannot be turned into JSON'],
    ['a getter that throws', thrower, 'it cannot be turned into JSON'],
    ['a toJSON that throws', { toJSON: () => Reflect.get(thrower, 'secret') }, 'it cannot be turned into JSON'],
  ])('says why %s cannot be JSON', (_, value, message) => {
    expect(() => boundedJson(value, 1_000_000)).toThrow(new NotJson(message))
  })

  test('shows an object twice if it only appears in two places', () => {
    const shared = { a: 1 }
    expect(boundedJson([shared, shared], 100).text).toBe('[{"a":1},{"a":1}]')
  })
})
