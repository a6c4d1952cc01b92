import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../test/tier.ts'
import { createJsonCheck } from '../json-schema.ts'
import { createSchemaBudget } from './budget.ts'
import { evaluate } from './evaluate.ts'
import type { Meter } from './meter.ts'
import { readSchema } from './read-schema.ts'
import { withDefaults } from './with-defaults.ts'

/** Counts, and lets everything pass. */
function counting(): Meter & { work: number } {
  const meter = {
    work: 0,
    spend(more: number) {
      meter.work += more
    },
    spendOn: (text: string) => meter.spend(1 + text.length / 16),
    nested: <T>(task: () => T) => task(),
  }
  return meter
}

function workOf(schema: unknown, value: unknown): number {
  const { root } = readSchema(schema, {
    budget: createSchemaBudget(),
    foreignPatterns: false,
    report: null,
    visit: null,
  })
  const meter = counting()
  evaluate(root, value, '', [], null, meter)
  return meter.work
}

function copyWorkOf(schema: unknown, value: unknown): number {
  const { root } = readSchema(schema, {
    budget: createSchemaBudget(),
    foreignPatterns: false,
    report: null,
    visit: null,
  })
  const meter = counting()
  withDefaults([root], value, '', 0, meter)
  return meter.work
}

const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i))
const named = <T>(count: number, make: (i: number) => T): Record<string, T> =>
  Object.fromEntries(times(count, (i) => [`k${i}`, make(i)]))

const N = 10_000
const text = 'ä'.repeat(N)
const keys = named(N, () => 1)
const items = times(N, (i) => i)

describe('a check counts what it looks at', () => {
  test.each<[string, unknown, unknown, number]>([
    ['minLength', { minLength: 1 }, text, N / 16],
    ['maxLength', { maxLength: 10 * N }, text, N / 16],
    ['format', { format: 'uri' }, `http://${text}`, N / 2],
    ['format that does not fit', { format: 'email' }, text, N / 2],
    ['pattern', { pattern: 'b$' }, text, N],
    ['pattern that is large', { pattern: '^(?:a{60}){60}$' }, 'b', 3_600],
    ['const', { const: 1 }, text, N / 16],
    ['enum of an object', { enum: [1] }, keys, N],
    ['enum of a list', { enum: [1] }, items, N],
    ['const and enum', { const: 1, enum: [1] }, items, 2 * N],
    ['minProperties', { minProperties: 1 }, keys, N],
    ['maxProperties', { maxProperties: 10 * N }, keys, N],
    ['properties', { properties: { other: {} } }, keys, N],
    ['additionalProperties', { additionalProperties: true }, keys, 2 * N],
    ['propertyNames', { propertyNames: true }, keys, 2 * N],
    ['propertyNames of a long name', { propertyNames: { minLength: 1 } }, { [text]: 1 }, N / 16],
    ['patternProperties', { patternProperties: { '^x': {}, '^y': {} } }, keys, 4 * N],
    ['patternProperties that cannot be followed', { patternProperties: { '(?<=x)y': {} } }, keys, 2 * N],
    ['unevaluatedProperties', { unevaluatedProperties: true }, keys, 2 * N],
    ['required', { required: times(N, (i) => `k${i}`) }, keys, N],
    ['dependentRequired', { dependentRequired: named(N, () => []) }, { a: 1 }, N],
    ['dependentRequired of many', { dependentRequired: { k1: times(N, (i) => `k${i}`) } }, keys, N],
    ['dependentSchemas', { dependentSchemas: named(N, () => true) }, { a: 1 }, N],
    ['items', { items: true }, items, 2 * N],
    ['prefixItems', { prefixItems: times(N, () => true) }, items, 2 * N],
    ['contains', { contains: true }, items, N],
    ['uniqueItems', { uniqueItems: true }, items, N],
    ['uniqueItems of long texts', { uniqueItems: true }, [text, text], N / 8],
    ['unevaluatedItems', { unevaluatedItems: true }, items, 2 * N],
    ['allOf', { allOf: times(N, () => true) }, 1, N],
    ['anyOf', { anyOf: times(N, () => false) }, 1, N],
    ['oneOf', { oneOf: times(N, () => true) }, 1, N],
    ['not', { not: { items: true } }, items, N],
    ['if', { if: { items: true } }, items, N],
    [
      '$ref',
      { allOf: times(N, () => ({ $ref: '#/$defs/a' })), $defs: { a: { minLength: 1 } } },
      'x'.repeat(160),
      N * 10,
    ],
  ])('%s', (_name, schema, value, touched) => {
    expect(workOf(schema, value)).toBeGreaterThanOrEqual(touched)
  })

  test.each<[string, unknown, unknown, number]>([
    ['of an object', {}, keys, N],
    ['of a list', {}, items, N],
    ['through many schemas for each name', { allOf: times(100, () => ({ properties: { a: {} } })) }, keys, 100 * N],
    ['through many schemas for each item', { allOf: times(100, () => ({ items: {} })) }, items, 100 * N],
    ['of properties that are absent', { properties: named(N, () => ({})) }, {}, N],
    [
      'that are looked for far away',
      { properties: named(100, () => ({ $ref: '#/$defs/a' })), $defs: { a: { allOf: times(100, () => ({})) } } },
      {},
      100 * 100,
    ],
    ['that are large themselves', { items: { properties: { a: { default: items } } } }, [{}, {}], 2 * N],
  ])('defaults %s', (_name, schema, value, touched) => {
    expect(copyWorkOf(schema, value)).toBeGreaterThanOrEqual(touched)
  })

  test('a check never reads more of a value than it counts as work', () => {
    const scalar = fc.constantFrom<unknown[]>(null, true, 0, 1.5, '', 'ab', 'x'.repeat(50))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        scalar,
        fc.array(tie('value'), { maxLength: 20 }),
        fc.dictionary(fc.constantFrom(...'abcdefghijklmnop'), tie('value'), { maxKeys: 12, noNullPrototype: true }),
      ),
    }))
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
      const some = fc.array(tie('schema'), { maxLength: 3 })
      const byName = fc.dictionary(fc.constantFrom(...'abcdefgh'), tie('schema'), { maxKeys: 4, noNullPrototype: true })
      const keyword = fc.oneof(
        ...(
          ['items', 'contains', 'not', 'if', 'additionalProperties', 'propertyNames', 'unevaluatedItems'] as const
        ).map((key) => tie('schema').map((one) => ({ [key]: one }))),
        ...(['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const).map((key) => some.map((list) => ({ [key]: list }))),
        ...(['properties', 'dependentSchemas'] as const).map((key) => byName.map((map) => ({ [key]: map }))),
        tie('schema').map((one) => ({ patternProperties: { '^[a-d]': one, 'e|f': one } })),
        tie('schema').map((one) => ({ unevaluatedProperties: one })),
        fc.constantFrom<unknown[]>(
          { enum: ['ab', [1], { a: 1 }] },
          { const: { a: [] } },
          { uniqueItems: true },
          { minProperties: 1 },
          { required: ['a', 'b', 'z'] },
          { dependentRequired: { a: ['b', 'c'], d: ['e'] } },
          { minLength: 1, format: 'uri', pattern: '^a' },
        ),
      )
      return {
        schema: fc.oneof(
          { maxDepth: 4, depthSize: 'small' },
          fc.constantFrom<unknown[]>(true, false, {}, { type: 'object' }),
          fc.array(keyword, { minLength: 1, maxLength: 3 }).map((list) => Object.assign({}, ...list)),
        ),
      }
    })
    fc.assert(
      fc.property(schema, value, (asked, given) => {
        const { root } = readSchema(asked, {
          budget: createSchemaBudget(),
          foreignPatterns: false,
          report: null,
          visit: null,
        })
        const reads = { count: 0 }
        const meter = counting()
        evaluate(root, watched(given, reads), '', [], null, meter)
        expect(reads.count).toBeLessThanOrEqual(3 * meter.work)
        reads.count = 0
        meter.work = 0
        withDefaults([root], watched(given, reads), '', 0, meter)
        expect(reads.count).toBeLessThanOrEqual(3 * meter.work)
      }),
      { numRuns: runs(1_000) },
    )
  })
})

/** The value, counting each look into it. */
function watched(value: unknown, reads: { count: number }): unknown {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, key) {
      reads.count += 1
      return watched(Reflect.get(target, key), reads)
    },
    has(target, key) {
      reads.count += 1
      return Reflect.has(target, key)
    },
    getOwnPropertyDescriptor(target, key) {
      reads.count += 1
      return Reflect.getOwnPropertyDescriptor(target, key)
    },
    ownKeys(target) {
      const found = Reflect.ownKeys(target)
      reads.count += found.length
      return found
    },
  })
}

describe('a check that would hold up everybody else ends', () => {
  /** A few hundred bytes that ask for `leaf` half a million times. */
  const doubling = (leaf: unknown) => ({
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      times(20, (i) => [
        `d${i}`,
        i === 19 ? leaf : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
      ]),
    ),
  })
  const longText = 'ä'.repeat(20_000)
  const manyForms = (form: unknown) => ({ anyOf: times(9_000, () => ({ $ref: '#/$defs/form' })), $defs: { form } })

  // Each took from three seconds to a minute where steps alone were counted.
  test.each<[string, unknown, unknown]>([
    ['minLength', doubling({ minLength: 1 }), longText],
    [
      'minLength in 80 KB of schema',
      {
        allOf: times(70, () => ({ $ref: '#/$defs/a' })),
        $defs: { a: { allOf: times(4_700, () => ({ minLength: 1 })) } },
      },
      longText,
    ],
    ['format', doubling({ format: 'uri' }), `http://${'ä'.repeat(200)}`],
    ['minProperties', doubling({ minProperties: 1 }), named(2_000, () => 1)],
    ['pattern found at once', doubling({ pattern: '^ä' }), longText],
    ['uniqueItems of objects', doubling({ uniqueItems: true }), times(2_000, (i) => ({ a: { i } }))],
    [
      'unknown names, with all that are known',
      manyForms({ properties: named(3_000, () => true), additionalProperties: false }),
      Object.fromEntries(times(2_000, (i) => [`x${i}`, 1])),
    ],
    ['defaults', { allOf: times(4_000, () => ({ properties: {} })) }, named(20_000, () => 1)],
    [
      'a long default, filled in often',
      { items: { properties: { a: { default: 'x'.repeat(10_000) } } } },
      times(2_000, () => ({})),
    ],
    [
      'a default with a long name, filled in often',
      { items: { properties: { a: { default: { ['x'.repeat(10_000)]: 1 } } } } },
      times(2_000, () => ({})),
    ],
  ])('%s', (_name, schema, value) => {
    const { check } = createJsonCheck(schema)
    // Of this thread alone: the machine may be busy with something else.
    const before = process.threadCpuUsage()
    expect(check(value)).toEqual({
      ok: false,
      problems: ['the value is too large to be checked against its schema; send less at once'],
    })
    expect(process.threadCpuUsage(before).user).toBeLessThan(2_000_000)
  })
})
