import { type Schema, Validator } from '@cfworker/json-schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../test/tier.ts'
import { createJsonCheck, jsonCheckOf } from './json-schema.ts'
import { createSchemaBudget } from './schema/budget.ts'

const check = (schema: unknown, value: unknown) => createJsonCheck(schema).check(value)
const problems = (schema: unknown, value: unknown) => {
  const result = check(schema, value)
  return result.ok ? [] : result.problems
}

describe('problems are described so that a model can act on them', () => {
  const weather = {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 2 },
      days: { type: 'integer', minimum: 1, maximum: 14 },
      unit: { enum: ['c', 'f'] },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 2, uniqueItems: true },
      'a/b~c': { type: 'null' },
    },
    required: ['city'],
    additionalProperties: false,
  }

  test.each<[unknown, string[]]>([
    [{ city: 'Bern' }, []],
    [{}, ['/city is required']],
    [{ city: 'Bern', days: '3' }, ['/days must be integer, found "3"']],
    [{ city: 'Bern', days: 1.5 }, ['/days must be integer, found 1.5']],
    [{ city: 'Bern', days: 0 }, ['/days must be at least 1, found 0']],
    [{ city: 'Bern', days: 15 }, ['/days must be at most 14, found 15']],
    [{ city: 'B' }, ['/city must have at least 2 characters, found 1']],
    [{ city: '😀' }, ['/city must have at least 2 characters, found 1']],
    [{ city: 'Bern', unit: 'k' }, ['/unit must be one of "c", "f", found "k"']],
    [{ city: 'Bern', town: 'x' }, ['/town is not known; there is city, days, unit, tags, a/b~c']],
    [{ city: 'Bern', tags: ['a', 1] }, ['/tags/1 must be string, found 1']],
    [{ city: 'Bern', tags: ['a', 'a'] }, ['/tags must not have the same item twice']],
    [{ city: 'Bern', tags: ['a', 'b', 'c'] }, ['/tags must have at most 2 items, found 3']],
    [{ city: 'Bern', 'a/b~c': 1 }, ['/a~1b~0c must be null, found 1']],
    [
      { city: ['Bern'], days: {} },
      ['/city must be string, found a list of 1', '/days must be integer, found an object'],
    ],
    [[], ['the value must be object, found a list of 0']],
    [{ city: 'x'.repeat(100), days: 'x'.repeat(100) }, [`/days must be integer, found "${'x'.repeat(40)}…"`]],
  ])('%j', (value, said) => {
    expect(problems(weather, value)).toEqual(said)
  })

  test.each<[unknown, unknown, string[]]>([
    [{ const: 1 }, 2, ['the value must be 1, found 2']],
    [{ type: ['integer', 'null'] }, 'x', ['the value must be integer or null, found "x"']],
    [{ pattern: '^[a-z]+$' }, 'A1', ['the value must match ^[a-z]+$, found "A1"']],
    [{ format: 'date' }, '2026-02-30', ['the value must be a date like 2026-01-31, found "2026-02-30"']],
    [{ format: 'email' }, 'ann', ['the value must be an e-mail address, found "ann"']],
    [{ exclusiveMinimum: 0 }, 0, ['the value must be more than 0, found 0']],
    [{ exclusiveMaximum: 0 }, 0, ['the value must be less than 0, found 0']],
    [{ multipleOf: 0.1 }, 0.35, ['the value must be a multiple of 0.1, found 0.35']],
    [{ multipleOf: 2 }, 9007199254740991, ['the value must be a multiple of 2, found 9007199254740991']],
    [{ not: { type: 'string' } }, 'x', ['the value may not be "x"']],
    [{ properties: { a: false } }, { a: 1 }, ['/a is not allowed; leave it out']],
    [{ additionalProperties: false }, { a: 1 }, ['/a is not known; leave it out']],
    [
      { propertyNames: { maxLength: 1 } },
      { ab: 1 },
      ['/ab is not a name that can be used: it must have at most 1 characters, found 2'],
    ],
    [{ dependentRequired: { a: ['b'] } }, { a: 1 }, ['/b is required where there is a']],
    [{ minProperties: 1 }, {}, ['the value must have at least 1 properties, found 0']],
    [{ contains: { const: 1 } }, [2], ['the value must have at least 1 items of the asked kind, found 0']],
    [
      { oneOf: [{ type: 'number' }, { type: 'integer' }] },
      1,
      ['the value must fit exactly one of 2 forms, and fits 2'],
    ],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, ['the value must be string or null, found 1']],
    [{ anyOf: [{ type: 'object', required: ['a'] }, { type: 'null' }] }, {}, ['/a is required']],
    [
      {
        anyOf: [
          { type: 'object', required: ['a', 'b'] },
          { type: 'object', required: ['c'] },
        ],
      },
      {},
      ['the value fits none of 2 forms; for the nearest, /c is required'],
    ],
  ])('%j and %j', (schema, value, said) => {
    expect(problems(schema, value)).toEqual(said)
  })

  test('ten problems are enough', () => {
    const result = problems(
      { items: { type: 'string' } },
      Array.from({ length: 50 }, (_, i) => i),
    )
    expect(result).toEqual(Array.from({ length: 10 }, (_, i) => `/${i} must be string, found ${i}`))
  })
})

describe('defaults', () => {
  test('are all filled in at once, whichever schema has them', () => {
    const { check } = createJsonCheck({
      properties: { place: { default: {} } },
      allOf: [{ properties: { place: { properties: { country: { default: 'CH' } } } } }],
    })
    expect(check({})).toEqual({ ok: true, value: { place: { country: 'CH' } } })
  })

  test('are filled in for absent properties at every depth, and the given value stays as it is', () => {
    const schema = {
      type: 'object',
      properties: {
        days: { type: 'integer', default: 3 },
        place: { type: 'object', properties: { country: { default: 'CH' } }, default: {} },
        stops: { type: 'array', items: { type: 'object', properties: { minutes: { default: 5 } } } },
        shared: { $ref: '#/$defs/shared' },
      },
      allOf: [{ properties: { unit: { default: 'c' } } }],
      required: ['days'],
      $defs: { shared: { type: 'string', default: 'yes' } },
    }
    const given = { stops: [{}, { minutes: 1 }, { minutes: null }] }
    expect(check(schema, given)).toEqual({
      ok: true,
      value: {
        days: 3,
        place: { country: 'CH' },
        stops: [{ minutes: 5 }, { minutes: 1 }, { minutes: null }],
        shared: 'yes',
        unit: 'c',
      },
    })
    expect(given).toEqual({ stops: [{}, { minutes: 1 }, { minutes: null }] })
  })

  test('that do not fit their own schema are left out', () => {
    const schema = {
      properties: { name: { type: 'string', default: null }, size: { $ref: '#/$defs/size', default: 9 } },
      $defs: { size: { type: 'integer', maximum: 5 } },
    }
    expect(check(schema, {})).toEqual({ ok: true, value: {} })
    expect(check(schema, { name: null }).ok).toBe(false)
  })

  test('are copies: a tool that changes one does not change the next call', () => {
    const { check } = createJsonCheck({ properties: { list: { default: [1] } } })
    const first = check({})
    if (first.ok && typeof first.value === 'object' && first.value !== null && 'list' in first.value) {
      Object.assign(first.value.list ?? {}, { 0: 'changed' })
    }
    expect(check({})).toEqual({ ok: true, value: { list: [1] } })
  })
})

describe('references', () => {
  test('may point anywhere in the schema, also to the schema itself', () => {
    const tree = {
      type: 'object',
      properties: { name: { type: 'string' }, kids: { type: 'array', items: { $ref: '#' } } },
    }
    expect(problems(tree, { kids: [{ kids: [{ name: 1 }] }] })).toEqual(['/kids/0/kids/0/name must be string, found 1'])
    const bundled = {
      $id: 'https://example.com/root',
      properties: { a: { $ref: 'part' }, b: { $ref: '#there' }, c: { $ref: '#/x-more/it%20is' } },
      $defs: { part: { $id: 'part', type: 'string' }, other: { $anchor: 'there', type: 'boolean' } },
      'x-more': { 'it is': { type: 'null' } },
    }
    expect(problems(bundled, { a: 1, b: 2, c: 3 })).toEqual([
      '/a must be string, found 1',
      '/b must be boolean, found 2',
      '/c must be null, found 3',
    ])
  })

  test('stand alone in draft 07; since then the keywords next to them count too', () => {
    const schema = { $ref: '#/definitions/text', maxLength: 1, definitions: { text: { type: 'string' } } }
    expect(problems(schema, 'ab')).toEqual(['the value must have at most 1 characters, found 2'])
    expect(problems({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' }, 'ab')).toEqual([])
  })
})

test('draft 07 and 04 are read as they were meant', () => {
  const seven = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    items: [{ type: 'string' }],
    additionalItems: false,
  }
  expect(problems(seven, ['a', 1])).toEqual(['/1 is not allowed; leave it out'])
  expect(problems({ dependencies: { a: ['b'], c: { required: ['d'] } } }, { a: 1, c: 1 })).toEqual([
    '/d is required',
    '/b is required where there is a',
  ])
  const four = { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true }
  expect(problems(four, 1)).toEqual(['the value must be more than 1, found 1'])
})

describe('a broken schema is refused when the check is made', () => {
  test.each<[unknown, string]>([
    [5, 'expected a JSON Schema, found 5. Write e.g. { type: string }'],
    [
      { type: 'strin' },
      '/type: expected one of string, number, integer, boolean, object, array, null, found "strin". Did you mean string?',
    ],
    [
      { properties: { a: { type: 'object', required: true } } },
      '/properties/a/required: expected a list of names, found true. Write e.g. required: [ city ]',
    ],
    [{ properties: [] }, '/properties: expected names with JSON Schemas, found an empty list.'],
    [{ properties: { 'a/b': 1 } }, '/properties/a~1b: expected a JSON Schema, found 1. Write e.g. { type: string }'],
    [{ anyOf: {} }, '/anyOf: expected a list of JSON Schemas, found an empty map.'],
    [{ enum: 'a' }, '/enum: expected a list of values, found "a". Write e.g. enum: [ small, large ]'],
    [{ minLength: -1 }, '/minLength: expected a whole number of at least 0, found -1.'],
    [{ minimum: '1' }, '/minimum: expected a number, found "1".'],
    [{ multipleOf: 0 }, '/multipleOf: expected a number above 0, found 0.'],
    [{ pattern: '(' }, '/pattern: "(" is not a regular expression (Unterminated group). Fix it.'],
    [{ $ref: 5 }, '/$ref: expected text, found 5. Write e.g. $ref: "#/$defs/address"'],
    [{ $ref: '#/$defs/gone' }, '/$ref: there is nothing at "#/$defs/gone" in this schema.'],
    [{ $ref: '#/__proto__' }, '/$ref: there is nothing at "#/__proto__" in this schema.'],
    [
      { items: { $ref: 'https://example.com/other.json' } },
      '/items/$ref: there is no "https://example.com/other.json" in this schema, and other documents are not fetched. Write e.g. $ref: "#/$defs/address"',
    ],
    [{ $ref: '#' }, 'it refers to itself in a circle.'],
    [
      { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
      'it refers to itself in a circle.',
    ],
  ])('%j', (schema, detail) => {
    expect(() => createJsonCheck(schema)).toThrow(
      expect.objectContaining({ code: 'config_invalid', message: `This JSON Schema cannot be used: ${detail}` }),
    )
  })
})

describe('hostile schemas and values', () => {
  const nested = (depth: number, around: (inner: unknown) => unknown, innermost: unknown = {}): unknown => {
    let value = innermost
    for (let i = 0; i < depth; i += 1) value = around(value)
    return value
  }

  test('a value or a schema that is nested too deeply is refused', () => {
    expect(
      problems(
        {},
        nested(100_000, (inner) => [inner]),
      ),
    ).toEqual(['the value is nested more than 100 levels deep; make it flatter'])
    expect(
      check(
        {},
        nested(99, (inner) => ({ a: inner })),
      ).ok,
    ).toBe(true)
    for (const schema of [
      nested(100_000, (inner) => ({ items: inner })),
      { const: nested(100_000, (inner) => [inner]) },
    ]) {
      expect(() => createJsonCheck(schema)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    }
  })

  test('a long chain of references is refused, and many references to the same are not', () => {
    const chain = (length: number) => ({
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        Array.from({ length }, (_, i) => [`d${i}`, i === length - 1 ? true : { $ref: `#/$defs/d${i + 1}` }]),
      ),
    })
    expect(check(chain(20), 1).ok).toBe(true)
    expect(() => createJsonCheck(chain(5_000))).toThrow(expect.objectContaining({ code: 'config_invalid' }))
  })

  test('a check that would take for ever ends, and says so', () => {
    const doubling = {
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        Array.from({ length: 21 }, (_, i) => [
          `d${i}`,
          i === 20 ? {} : { allOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
        ]),
      ),
    }
    const tooLarge = ['the value is too large to be checked against its schema; send less at once']
    const before = process.threadCpuUsage()
    expect(problems(doubling, 1)).toEqual(tooLarge)
    expect(
      problems(
        { items: { type: 'integer' } },
        Array.from({ length: 600_000 }, (_, i) => i),
      ),
    ).toEqual(tooLarge)
    expect(problems({ pattern: '^(a+)+$' }, `${'a'.repeat(40)}!`)).toEqual([
      `the value must match ^(a+)+$, found "${'a'.repeat(40)}…"`,
    ])
    expect(problems({ format: 'url' }, `http://${'a'.repeat(100_000)} !`)).toHaveLength(1)
    expect(problems({ format: 'email' }, `${'a'.repeat(100_000)}@`)).toHaveLength(1)
    expect(
      check(
        { uniqueItems: true },
        Array.from({ length: 50_000 }, (_, i) => i),
      ).ok,
    ).toBe(true)
    const branches = { anyOf: Array.from({ length: 2_000 }, (_, i) => ({ const: { i } })) }
    expect(problems(branches, { text: 'x'.repeat(100_000) })).toEqual(tooLarge)
    expect(process.threadCpuUsage(before).user).toBeLessThan(5_000_000)
  })

  test('a schema that is too large is refused before it is read, and so are many that are too large together', () => {
    const refused = expect.objectContaining({ code: 'config_invalid' })
    const values = { enum: Array.from({ length: 20_000 }, (_, i) => i) }
    const budget = createSchemaBudget()
    createJsonCheck(values, { budget })
    expect(() => createJsonCheck(values, { budget })).toThrow(refused)
    expect(budget.hasRefused).toBe(true)
    expect(createJsonCheck({ type: 'string' }, { budget }).check('a').ok).toBe(true)
    expect(() => createJsonCheck({ description: 'x'.repeat(1_000_001) })).toThrow(refused)
    const self: Record<string, unknown> = {}
    self.default = self
    expect(() => createJsonCheck(self)).toThrow(refused)
  })

  test('the name of a schema is not copied into thousands of others', () => {
    const anchors = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`a${i}`, { $anchor: `a${i}` }]))
    expect(() => createJsonCheck({ $id: `https://example.com/${'x'.repeat(500_000)}`, $defs: anchors })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    )
    expect(check({ $id: 'https://example.com/tool.json', $defs: anchors, $ref: '#a7' }, 1).ok).toBe(true)
  })

  test('the number of URLs is limited, the number of anchors is not', () => {
    const many = (key: string, name: (i: number) => string) => ({
      allOf: Array.from({ length: 4_000 }, (_, i) => ({ [key]: name(i) })),
    })
    expect(() => createJsonCheck(many('$id', (i) => `https://ä${i}.example/`))).toThrow('more than 3000 names')
    expect(() => createJsonCheck({ ...many('$ref', () => 'a#b'), $id: 'a', $anchor: 'b' })).toThrow('more than 3000')
    const refs = { ...many('$ref', () => '#b'), $defs: { b: { $anchor: 'b', type: 'string' } } }
    expect([check(refs, 'x').ok, check(refs, 1).ok]).toEqual([true, false])
  })

  test('a pattern that cannot be followed is not enforced and is named in a warning', () => {
    const schema = { properties: { a: { pattern: '(?<=x)y' }, b: { pattern: '^[a-z]+$' } } }
    const { warnings, check: checked } = createJsonCheck(schema)
    expect(warnings).toEqual([
      'the pattern "(?<=x)y" at /properties/a/pattern looks around, refers back or takes too many steps and is not enforced',
    ])
    expect(checked({ a: 'z', b: 'Z' })).toEqual({ ok: false, problems: ['/b must match ^[a-z]+$, found "Z"'] })
    expect(createJsonCheck({ pattern: '(?i)x' }, { foreignPatterns: true }).warnings).toEqual([
      'the pattern "(?i)x" at /pattern is not a JavaScript regular expression and is not enforced',
    ])
  })

  test('a pattern may write a character outside of the basic plane in either way', () => {
    for (const pattern of ['^\\ud83d\\ude00$', '^\\u{1F600}$', '^[\\ud83d\\ude00]$', '^😀$']) {
      expect([pattern, check({ pattern }, '😀').ok, check({ pattern }, '😁').ok]).toEqual([pattern, true, false])
    }
  })

  test('names from the prototype are ordinary names, and __proto__ reaches no tool', () => {
    const schema = {
      properties: { constructor: { type: 'string' } },
      required: ['toString'],
      additionalProperties: false,
    }
    expect(problems(schema, JSON.parse('{"constructor":1,"hasOwnProperty":2}'))).toEqual([
      '/toString is required',
      '/constructor must be string, found 1',
      '/hasOwnProperty is not known; there is constructor',
    ])
    expect(problems({}, JSON.parse('{"a":{"__proto__":{"admin":true}}}'))).toEqual([
      '/a/__proto__ is not allowed as a name',
    ])
    const sneaky = JSON.parse('{"properties":{"__proto__":{"default":{"admin":true}}}}')
    expect(check(sneaky, {})).toEqual({ ok: true, value: {} })
  })

  test('the given schema is not changed and may be frozen', () => {
    const schema = Object.freeze({ type: 'string', $defs: Object.freeze({ a: Object.freeze({ $id: 'x' }) }) })
    expect(check(schema, 'x')).toEqual({ ok: true, value: 'x' })
  })

  test.each([undefined, Number.NaN, 1n, () => 1])('%s is not a JSON value', (value) => {
    expect(problems({}, [value])).toEqual(['/0 is not a JSON value'])
  })
})

/** A few of these at a time: with all at once nothing would ever fit. */
const keywords = (of: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
  fc
    .array(fc.oneof(...Object.entries(of).map(([key, value]) => value.map((one) => ({ [key]: one })))), {
      minLength: 1,
      maxLength: 4,
    })
    .map((some) => Object.assign({}, ...some))

test('an independent validator comes to the same verdict on random schemas and values', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const scalar = fc.constantFrom<unknown[]>(null, true, 0, 1, 2, 1.5, '', 'a', 'ab', '1')
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }))
  const count = fc.integer({ min: 0, max: 2 })
  const { schema } = fc.letrec<{ schema: unknown }>((tie) => {
    const some = fc.array(tie('schema'), { minLength: 1, maxLength: 2 })
    const byName = fc.dictionary(name, tie('schema'), { maxKeys: 2, noNullPrototype: true })
    return {
      schema: fc.oneof(
        { maxDepth: 3, depthSize: 'small' },
        fc.constantFrom<unknown[]>(
          true,
          false,
          {},
          { type: 'string' },
          { type: 'object' },
          { type: ['integer', 'array'] },
          { $ref: '#/$defs/x' },
        ),
        keywords({
          type: fc.constantFrom<unknown[]>('object', 'array', 'string', 'integer', ['object', 'null', 'array']),
          enum: fc.array(value, { maxLength: 3 }),
          const: value,
          properties: byName,
          required: fc.array(name, { maxLength: 2 }),
          additionalProperties: tie('schema'),
          patternProperties: fc.dictionary(fc.constantFrom('^a', 'b|c', '.'), tie('schema'), {
            maxKeys: 1,
            noNullPrototype: true,
          }),
          propertyNames: fc.constantFrom({ maxLength: 1 }, { pattern: 'a' }, { enum: ['a', 'b'] }),
          unevaluatedProperties: tie('schema'),
          minProperties: count,
          maxProperties: count,
          dependentRequired: fc.dictionary(name, fc.array(name, { maxLength: 2 }), {
            maxKeys: 2,
            noNullPrototype: true,
          }),
          dependentSchemas: byName,
          prefixItems: some,
          items: tie('schema'),
          contains: tie('schema'),
          minItems: count,
          maxItems: count,
          uniqueItems: fc.boolean(),
          minimum: count,
          exclusiveMaximum: count,
          multipleOf: fc.constantFrom(0.5, 1, 2),
          minLength: count,
          maxLength: count,
          pattern: fc.constantFrom('^a', 'b$', '^(a|1)+$'),
          allOf: some,
          anyOf: some,
          oneOf: some,
          not: tie('schema'),
          if: tie('schema'),
          // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
          then: tie('schema'),
          else: tie('schema'),
        }),
      ),
    }
  })
  const inside = { type: ['string', 'object'], minLength: 1, required: ['a'] }
  const whole = schema.map((one) =>
    typeof one === 'object' && one !== null ? { ...one, $defs: { x: inside } } : { allOf: [one], $defs: { x: inside } },
  )
  fc.assert(
    fc.property(whole, value, (one, json) => {
      const copy: Schema = JSON.parse(JSON.stringify(one))
      expect(check(one, json).ok).toBe(new Validator(copy, '2020-12', false).validate(json).valid)
    }),
    { numRuns: runs(2_000) },
  )
})

test('a schema that is used again and again is read once', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', pattern: '[[:alpha:]]' } }, required: ['a'] }
  const check = jsonCheckOf(schema)
  expect(check.check({})).toEqual({ ok: false, problems: ['/a is required'] })
  expect(check.warnings).toHaveLength(1)
  expect(jsonCheckOf(schema)).toBe(check)
  expect(jsonCheckOf({ ...schema })).not.toBe(check)
})

test('a broken schema is refused each time', () => {
  const schema = { type: 'strnig' }
  for (let time = 0; time < 2; time += 1) expect(() => jsonCheckOf(schema)).toThrow('/type: expected one of')
})

test('a mistake in a definition that nothing refers to is not refused: a stranger’s schema may have one', () => {
  expect(check({ type: 'string', $defs: { unused: 5 } }, 'a')).toEqual({ ok: true, value: 'a' })
})
