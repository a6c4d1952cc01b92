// Checks the part of JSON Schema that the document uses. An unknown keyword is an error, because it would not be checked.

import { isJson, type Json, type Resolve } from './api.ts'

const SILENT = new Set(['description', 'title', 'default', 'examples', 'format', 'contentMediaType', 'contentSchema'])

/** What is wrong with `value`. Empty when it satisfies the schema. */
export function problemsOf(value: unknown, schema: Json, resolve: Resolve, place = ''): string[] {
  return Object.entries(schema).flatMap(([keyword, wanted]) => {
    if (SILENT.has(keyword) || keyword.startsWith('x-')) return []
    const check = checks[keyword]
    if (check === undefined) throw new Error(`the keyword ${keyword} at ${place} is not known here`)
    return check({
      value,
      wanted,
      schema,
      place,
      below: (part, one, at) => problemsOf(part, one, resolve, place + at),
      resolve,
    })
  })
}

interface Check {
  value: unknown
  wanted: unknown
  schema: Json
  place: string
  below: (value: unknown, schema: Json, place: string) => string[]
  resolve: Resolve
}

const schemasIn = (wanted: unknown): Json[] => (Array.isArray(wanted) ? wanted.filter(isJson) : [])
const asSchema = (wanted: unknown): Json => (isJson(wanted) ? wanted : {})
const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)
const told = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 200)
const number = (holds: (value: number, limit: number) => boolean) => (check: Check) => {
  const { value, wanted, place } = check
  return typeof value !== 'number' || holds(value, Number(wanted)) ? [] : [`${place}: ${value} against ${wanted}`]
}
const length = (holds: (count: number, limit: number) => boolean) => (check: Check) => {
  const { value, wanted, place } = check
  const count = typeof value === 'string' ? [...value].length : Array.isArray(value) ? value.length : null
  return count === null || holds(count, Number(wanted)) ? [] : [`${place}: ${count} long against ${wanted}`]
}

const checks: Readonly<Record<string, (check: Check) => string[]>> = {
  $ref: ({ value, schema, below, resolve }) => below(value, resolve(schema), ''),
  type: ({ value, wanted, place }) => {
    const types = Array.isArray(wanted) ? wanted : [wanted]
    return types.some((type) => isOfType(value, type)) ? [] : [`${place}: ${told(value)} is not ${types.join(' or ')}`]
  },
  const: ({ value, wanted, place }) => (same(value, wanted) ? [] : [`${place}: ${told(value)} is not ${told(wanted)}`]),
  enum: ({ value, wanted, place }) =>
    Array.isArray(wanted) && wanted.some((one) => same(one, value))
      ? []
      : [`${place}: ${told(value)} is none of ${told(wanted)}`],
  properties: ({ value, wanted, below }) =>
    isJson(value)
      ? Object.entries(asSchema(wanted)).flatMap(([key, one]) =>
          Object.hasOwn(value, key) ? below(value[key], asSchema(one), `/${key}`) : [],
        )
      : [],
  required: ({ value, wanted, place }) =>
    isJson(value) && Array.isArray(wanted)
      ? wanted.filter((key) => !Object.hasOwn(value, String(key))).map((key) => `${place}: ${key} is missing`)
      : [],
  additionalProperties: ({ value, wanted, schema, place, below }) => {
    const known = asSchema(schema.properties)
    const others = isJson(value) ? Object.entries(value).filter(([key]) => !Object.hasOwn(known, key)) : []
    if (wanted === true) return []
    if (wanted === false) return others.map(([key]) => `${place}: ${key} is not described`)
    return others.flatMap(([key, one]) => below(one, asSchema(wanted), `/${key}`))
  },
  propertyNames: ({ value, wanted, below }) =>
    isJson(value) ? Object.keys(value).flatMap((key) => below(key, asSchema(wanted), `/${key}`)) : [],
  items: ({ value, wanted, below }) =>
    Array.isArray(value) ? value.flatMap((item, i) => below(item, asSchema(wanted), `/${i}`)) : [],
  prefixItems: ({ value, wanted, below }) =>
    Array.isArray(value) ? schemasIn(wanted).flatMap((one, i) => below(value[i], one, `/${i}`)) : [],
  allOf: ({ value, wanted, below }) => schemasIn(wanted).flatMap((one) => below(value, one, '')),
  anyOf: someOf,
  oneOf: someOf,
  not: ({ value, wanted, place, below }) =>
    below(value, asSchema(wanted), '').length > 0 ? [] : [`${place}: ${told(value)} is what must not be`],
  minimum: number((value, limit) => value >= limit),
  maximum: number((value, limit) => value <= limit),
  exclusiveMinimum: number((value, limit) => value > limit),
  exclusiveMaximum: number((value, limit) => value < limit),
  minLength: length((count, limit) => count >= limit),
  maxLength: length((count, limit) => count <= limit),
  minItems: length((count, limit) => count >= limit),
  maxItems: length((count, limit) => count <= limit),
  pattern: ({ value, wanted, place }) =>
    typeof value !== 'string' || new RegExp(String(wanted), 'u').test(value)
      ? []
      : [`${place}: ${told(value)} against ${wanted}`],
}

/** The problems of the branch that fits best. */
function someOf({ value, wanted, below }: Check): string[] {
  const tries = schemasIn(wanted).map((one) => below(value, one, ''))
  return tries.reduce((best, next) => (next.length < best.length ? next : best), tries[0] ?? [])
}

function isOfType(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isJson(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
