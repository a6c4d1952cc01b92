// Values that satisfy a schema, and values that probably do not.

import fc from 'fast-check'
import { isJson, type Json, type Resolve } from './api.ts'

const DEPTH = 6

/** A value that the schema allows. */
export function allowedValue(schema: Json, resolve: Resolve, depth = 0): fc.Arbitrary<unknown> {
  const one = resolve(schema)
  if (one.const !== undefined) return fc.constant(one.const)
  if (Array.isArray(one.enum)) return fc.constantFrom(...one.enum)
  const branches = [one.anyOf, one.oneOf].find(Array.isArray)?.filter(isJson) ?? []
  if (branches.length > 0) return fc.oneof(...branches.map((branch) => allowedValue(branch, resolve, depth + 1)))
  const type = Array.isArray(one.type) ? one.type[0] : one.type
  switch (type) {
    case 'string':
      return textOf(one)
    case 'integer':
    case 'number':
      return numberOf(one, type === 'integer')
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array': {
      const items = isJson(one.items) ? one.items : {}
      const max = depth > DEPTH ? 0 : Math.min(Number(one.maxItems ?? 3), 3)
      return fc.array(allowedValue(items, resolve, depth + 1), {
        minLength: Math.min(Number(one.minItems ?? 0), 3),
        maxLength: max,
      })
    }
    case 'object':
      return objectOf(one, resolve, depth)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

function objectOf(schema: Json, resolve: Resolve, depth: number): fc.Arbitrary<unknown> {
  const properties = isJson(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  const shown = Object.entries(properties).filter(([key]) => depth <= DEPTH || required.includes(key))
  if (shown.length === 0 && schema.additionalProperties !== false)
    return fc.dictionary(word, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
  const model = Object.fromEntries(
    shown.map(([key, one]) => [key, allowedValue(isJson(one) ? one : {}, resolve, depth + 1)]),
  )
  return fc.record(model, { requiredKeys: required.filter((key) => model[key] !== undefined), noNullPrototype: true })
}

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/)

function textOf({ minLength, maxLength, pattern }: Json): fc.Arbitrary<string> {
  const min = Number(minLength ?? 0)
  const max = Math.max(min, Math.min(Number(maxLength ?? 40), 40))
  const fits = typeof pattern === 'string' ? new RegExp(pattern, 'u') : /(?:)/
  return fc
    .oneof(word, fc.string({ unit: 'grapheme', minLength: min, maxLength: max }))
    .map((text) => (fits.test(text) && text.length >= min ? text : `x${text}`))
}

function numberOf({ minimum, maximum }: Json, whole: boolean): fc.Arbitrary<number> {
  const min = Math.max(Number(minimum ?? -1_000), -1_000)
  const max = Math.min(Number(maximum ?? 1_000), 1_000)
  return whole ? fc.integer({ min: Math.ceil(min), max }) : fc.double({ min, max, noNaN: true })
}

const wrong = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    ' ',
    0,
    -1,
    1e300,
    true,
    [],
    {},
    '\u0000',
    '\ud800',
    '__proto__',
    'x'.repeat(10_001),
    '😀'.repeat(10_001),
  ),
  fc.jsonValue({ maxDepth: 2 }),
)

/** The value with one change: another value, a missing key, or an extra key. */
export function spoiled(value: unknown): fc.Arbitrary<unknown> {
  if (!isJson(value) || Object.keys(value).length === 0) return wrong
  const key = fc.constantFrom(...Object.keys(value))
  return fc.oneof(
    fc.tuple(key, wrong).map(([name, other]) => ({ ...value, [name]: other })),
    key.map((name) => Object.fromEntries(Object.entries(value).filter(([one]) => one !== name))),
    fc.tuple(word, wrong).map(([name, other]) => ({ ...value, [name]: other })),
    key.chain((name) => spoiled(value[name]).map((other) => ({ ...value, [name]: other }))),
    wrong,
  )
}
