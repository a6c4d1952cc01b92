import { describe, expect, test } from 'vitest'
import { checkJsonSchema } from './check-json-schema.ts'
import { pathText } from './yaml-source.ts'

const mistakes = (schema: Record<string, unknown>): string[] => {
  const found: string[] = []
  checkJsonSchema(schema, (path, message) => void found.push(`${pathText(path)}: ${message}`))
  return found
}

describe('a JSON Schema', () => {
  test('whose keywords are all right may still be unusable, which is a mistake of the file', () => {
    const circle = { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }
    expect(mistakes(circle)).toEqual([': This JSON Schema cannot be used: it refers to itself in a circle.'])
    expect(mistakes({ enum: Array.from({ length: 60_000 }, (_, i) => i) })).toEqual([
      expect.stringContaining('more than 1000000 characters or 30000 values. Make them smaller.'),
    ])
  })

  test('has all its mistakes reported, also those in a definition that nothing refers to', () => {
    expect(
      mistakes({
        properties: { a: 'string', 'b/c': { type: 'strng', minLength: -1 } },
        required: 'a',
        oneOf: [{ minimum: '1' }, 5],
        $defs: { unused: { items: { typ: 'string' } } },
      }).toSorted(),
    ).toEqual([
      '$defs.unused.items.typ: JSON Schema has no keyword typ. Did you mean type?',
      'oneOf[0].minimum: expected a number, found "1".',
      'oneOf[1]: expected a JSON Schema, found 5. Write e.g. { type: string }',
      'properties.a: expected a JSON Schema, found "string". Write e.g. { type: string }',
      'properties.b/c.minLength: expected a whole number of at least 0, found -1.',
      'properties.b/c.type: expected one of string, number, integer, boolean, object, array, null, found "strng". Did you mean string?',
      'required: expected a list of names, found "a". Write e.g. required: [ city ]',
    ])
  })

  test('with every sort of keyword is right', () => {
    expect(
      mistakes({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: ['object', 'null'],
        properties: {
          name: { type: 'string', minLength: 1, pattern: '^[a-z]+$', default: 'a', format: 'x', 'x-order': 1 },
          size: { enum: [1, 2, null], default: null },
          count: { type: 'integer', default: 3, minimum: 0, exclusiveMaximum: 10 },
          tags: { type: 'array', items: { $ref: '#/$defs/tag' }, uniqueItems: true, default: [] },
          any: true,
          tree: { $ref: '#' },
        },
        required: ['name'],
        additionalProperties: false,
        anyOf: [{ required: ['size'] }, { not: { required: ['count'] } }],
        $defs: { tag: { type: 'string' }, 'a/b': {} },
      }),
    ).toEqual([])
  })

  test.each([
    [{ properties: ['a'] }, 'properties: expected names with JSON Schemas, found a list.'],
    [{ properties: { a: { b: { type: 'text' } } } }, null],
    [
      { properties: { a: 'string' } },
      'properties.a: expected a JSON Schema, found "string". Write e.g. { type: string }',
    ],
    [{ type: [] }, 'type: expected at least one type, found an empty list.'],
    [
      { items: { type: 'int' } },
      'items.type: expected one of string, number, integer, boolean, object, array, null, found "int". Write e.g. type: string',
    ],
    [{ anyOf: {} }, 'anyOf: expected a list of JSON Schemas, found an empty map.'],
    [{ anyOf: [{ type: 'string' }, 5] }, 'anyOf[1]: expected a JSON Schema, found 5. Write e.g. { type: string }'],
    [{ required: 'a' }, 'required: expected a list of names, found "a". Write e.g. required: [ city ]'],
    [
      { properties: { a: {} }, required: ['zebra'] },
      'required[0]: zebra is not among the properties. Describe it there, or take it out here.',
    ],
    [{ enum: [] }, 'enum: expected a list of values, found an empty list. Write e.g. enum: [ small, large ]'],
    [{ minimum: '5' }, 'minimum: expected a number, found "5".'],
    [{ maxLength: -1 }, 'maxLength: expected a whole number of at least 0, found -1.'],
    [{ pattern: '[' }, 'pattern: "[" is not a regular expression (Unterminated character class). Fix it.'],
    [{ description: 5 }, 'description: expected text, found 5.'],
    [
      { $ref: 'https://example.com/x.json' },
      '$ref: there is no "https://example.com/x.json" in this schema, and other documents are not fetched. Write e.g. $ref: "#/$defs/address"',
    ],
    [{ $ref: '#/$defs/gone' }, '$ref: there is nothing at "#/$defs/gone" in this schema.'],
    [{ enum: ['a'], default: 'b' }, 'default: the default "b" does not fit its own type or enum.'],
    [{ type: 'integer', default: 1.5 }, 'default: the default 1.5 does not fit its own type or enum.'],
    [{ type: 'object', default: [] }, 'default: the default an empty list does not fit its own type or enum.'],
    [{ minLenght: 5 }, 'minLenght: JSON Schema has no keyword minLenght. Did you mean minLength?'],
  ])('%j: %s', (schema, expected) => {
    expect(mistakes(schema)).toEqual(expected === null ? [] : [expected])
  })
})
