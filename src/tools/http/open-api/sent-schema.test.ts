import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../testing/open-api-file.ts'
import type { OpenApiDocument } from './document.ts'
import { sentSchema } from './sent-schema.ts'

async function sent(schemas: Record<string, unknown>, schema: unknown = { $ref: '#/components/schemas/A' }) {
  const document: OpenApiDocument = await openApiDocument({ components: { schemas } })
  return sentSchema(document, schema)
}

describe('a schema of OpenAPI', () => {
  test('has its references resolved at any depth, and keeps keywords beside them', async () => {
    const schemas = {
      A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B', description: 'Mine.' } } },
      B: { $ref: '#/components/schemas/C~1d%20e' },
      'C/d e': { type: 'array', items: { $ref: '#/components/schemas/D' }, description: 'Theirs.' },
      D: { type: 'string', enum: ['x'] },
    }
    expect(await sent(schemas)).toEqual({
      type: 'object',
      properties: { b: { type: 'array', items: { type: 'string', enum: ['x'] }, description: 'Mine.' } },
    })
  })

  test('allows any value where it contains itself', async () => {
    const schemas = {
      A: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/components/schemas/A' } },
        },
      },
    }
    expect(await sent(schemas)).toEqual({
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: {} } },
    })
  })

  test('that only refers to itself allows any value', async () => {
    expect(await sent({ A: { $ref: '#/components/schemas/B' }, B: { $ref: '#/components/schemas/A' } })).toEqual({})
  })

  test('may use the same reference twice side by side', async () => {
    const schemas = { A: { type: 'string' } }
    const reference = { $ref: '#/components/schemas/A' }
    expect(await sent(schemas, { properties: { a: reference, b: reference } })).toEqual({
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    })
  })

  test('that doubles with every reference stays small', async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => {
        const next = { $ref: `#/components/schemas/S${i + 1}` }
        return [`S${i}`, i === 39 ? { type: 'string' } : { type: 'object', properties: { a: next, b: next } }]
      }),
    )
    const result = await sent(schemas, { $ref: '#/components/schemas/S0' })
    expect(JSON.stringify(result).length).toBeLessThan(20_000)
  })

  test('that is too large loses its deepest parts, not its last ones', async () => {
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, { type: 'string' }]))
    const schemas = {
      A: { properties: { first: { $ref: '#/components/schemas/B' }, last: { type: 'string' } } },
      B: {
        properties: Object.fromEntries(Object.keys(wide).map((name) => [name, { $ref: '#/components/schemas/C' }])),
      },
      C: { properties: wide },
    }
    const open = Object.fromEntries(Object.keys(wide).map((name) => [name, {}]))
    expect(await sent(schemas)).toEqual({ properties: { first: { properties: open }, last: { type: 'string' } } })
  })

  test('of OpenAPI 3.0 becomes JSON Schema', async () => {
    const schema = {
      type: 'object',
      'x-internal': true,
      discriminator: { propertyName: 'kind' },
      xml: { name: 'a' },
      externalDocs: { url: 'https://a.example' },
      example: { a: 1 },
      required: ['id', 'n'],
      properties: {
        id: { type: 'integer', readOnly: true },
        n: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false, nullable: true },
        e: { type: 'string', enum: ['a'], nullable: true },
        example: { type: 'string', example: 'x' },
        p: { type: 'string', pattern: '(?i)bad' },
        q: { type: 'string', pattern: '^a+$', deprecated: true, writeOnly: true },
      },
    }
    expect(await sent({}, schema)).toEqual({
      type: 'object',
      required: ['n'],
      properties: {
        n: { type: ['integer', 'null'], exclusiveMinimum: 0, maximum: 9 },
        e: { type: ['string', 'null'], enum: ['a', null] },
        example: { type: 'string' },
        p: { type: 'string' },
        q: { type: 'string', pattern: '^a+$' },
      },
    })
  })

  test('of OpenAPI 3.1 stays as it is', async () => {
    const schema = {
      type: ['object', 'null'],
      properties: { n: { type: 'number', exclusiveMinimum: 0, const: 3 } },
      patternProperties: { '^x-': { type: 'string' } },
      additionalProperties: false,
      anyOf: [{ required: ['n'] }, { not: { minProperties: 1 } }],
    }
    expect(await sent({}, schema)).toEqual(schema)
  })
})
