// A JSON Schema as a tree that people can read. The schema may come from a server that we do not know: it may be large, refer to
// itself, or be no schema at all.

import { isRecord } from '../../../../src/domain/is-record.ts'

export interface SchemaNode {
  name: string
  type: string
  isRequired: boolean
  description: string
  /** Limits, choices and the default, in words. */
  notes: string[]
  children: SchemaNode[]
}

const MOST_DEPTH = 8
const MOST_NODES = 400
const MOST_CHOICES = 20

type Schema = Readonly<Record<string, unknown>>

interface Walk {
  root: Schema
  left: number
}

/** The parameters of a tool, one node for each. */
export function schemaTree(schema: unknown): SchemaNode[] {
  if (!isRecord(schema)) return []
  const walk = { root: schema, left: MOST_NODES }
  return childrenOf(resolved(schema, walk), walk, 0)
}

function nodeOf(name: string, value: unknown, isRequired: boolean, walk: Walk, depth: number): SchemaNode {
  walk.left -= 1
  const schema = resolved(value, walk)
  return {
    name,
    type: typeOf(schema, walk),
    isRequired,
    description: typeof schema.description === 'string' ? schema.description : '',
    notes: notesOf(schema),
    children: depth >= MOST_DEPTH ? [] : childrenOf(schema, walk, depth),
  }
}

function childrenOf(schema: Schema, walk: Walk, depth: number): SchemaNode[] {
  const found: SchemaNode[] = []
  const add = (name: string, value: unknown, isRequired = false) => {
    if (walk.left > 0) found.push(nodeOf(name, value, isRequired, walk, depth + 1))
  }
  const required = new Set(Array.isArray(schema.required) ? schema.required : [])
  if (isRecord(schema.properties)) {
    for (const [name, value] of Object.entries(schema.properties)) add(name, value, required.has(name))
  }
  if (isRecord(schema.additionalProperties)) add('(any other name)', schema.additionalProperties)
  const places = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  for (const [i, item] of places.entries()) add(`(item ${i + 1})`, item)
  // Simple items are in the type already: `list of text`.
  if (isRecord(schema.items) && hasInside(resolved(schema.items, walk))) add('(each item)', schema.items)
  for (const part of partsOf(schema)) if (hasInside(resolved(part, walk))) add('(one of)', part)
  if (Array.isArray(schema.allOf)) {
    for (const part of schema.allOf) found.push(...childrenOf(resolved(part, walk), walk, depth + 1))
  }
  return found
}

const partsOf = (schema: Schema): unknown[] => [
  ...(Array.isArray(schema.anyOf) ? schema.anyOf : []),
  ...(Array.isArray(schema.oneOf) ? schema.oneOf : []),
]

const hasInside = (schema: Schema): boolean =>
  ['properties', 'items', 'prefixItems', 'anyOf', 'oneOf', 'allOf'].some((name) => schema[name] !== undefined)

/** A reference inside the schema is followed. One that leads elsewhere, or in a circle, is not. */
function resolved(value: unknown, { root }: Walk): Schema {
  let schema: unknown = value
  const seen = new Set<string>()
  while (isRecord(schema) && typeof schema.$ref === 'string' && !seen.has(schema.$ref)) {
    const { $ref: ref, ...beside }: Schema = schema
    seen.add(String(ref))
    const target = at(root, String(ref))
    if (target === undefined) return { ...beside, type: String(ref) }
    schema = isRecord(target) ? { ...target, ...beside } : target
  }
  return isRecord(schema) ? schema : {}
}

function at(root: Schema, ref: string): unknown {
  if (!ref.startsWith('#')) return undefined
  let place: unknown = root
  for (const part of ref.split('/').slice(1)) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    place = isRecord(place) && Object.hasOwn(place, key) ? place[key] : undefined
  }
  return place
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'yes or no',
  object: 'object',
  array: 'list',
  null: 'nothing',
}

function typeOf(schema: Schema, walk: Walk, depth = 0): string {
  if (schema.const !== undefined) return 'fixed'
  if (Array.isArray(schema.enum)) return 'choice'
  const { type } = schema
  if (Array.isArray(type)) return type.map((one) => typeNames[String(one)] ?? String(one)).join(' or ')
  if (type === 'array' && depth < 3 && isRecord(schema.items)) {
    return `list of ${typeOf(resolved(schema.items, walk), walk, depth + 1)}`
  }
  if (typeof type === 'string') return typeNames[type] ?? type
  const parts = depth < 3 ? partsOf(schema).map((part) => typeOf(resolved(part, walk), walk, depth + 1)) : []
  if (parts.length > 0) return [...new Set(parts)].join(' or ')
  return isRecord(schema.properties) ? 'object' : 'anything'
}

const limits: readonly (readonly [key: string, words: (value: string) => string])[] = [
  ['format', (value) => `as ${value}`],
  ['pattern', (value) => `fits ${value}`],
  ['minimum', (value) => `at least ${value}`],
  ['exclusiveMinimum', (value) => `more than ${value}`],
  ['maximum', (value) => `at most ${value}`],
  ['exclusiveMaximum', (value) => `less than ${value}`],
  ['multipleOf', (value) => `a multiple of ${value}`],
  ['minLength', (value) => `at least ${value} characters`],
  ['maxLength', (value) => `at most ${value} characters`],
  ['minItems', (value) => `at least ${value} items`],
  ['maxItems', (value) => `at most ${value} items`],
]

function notesOf(schema: Schema): string[] {
  const notes: string[] = []
  if (schema.const !== undefined) notes.push(`always ${JSON.stringify(schema.const)}`)
  if (Array.isArray(schema.enum)) {
    const more = schema.enum.length - MOST_CHOICES
    const choices = schema.enum.slice(0, MOST_CHOICES).map((one) => JSON.stringify(one))
    notes.push(`one of ${choices.join(', ')}${more > 0 ? ` and ${more} more` : ''}`)
  }
  for (const [key, words] of limits) {
    const value = schema[key]
    if (typeof value === 'string' || typeof value === 'number') notes.push(words(String(value)))
  }
  if (schema.default !== undefined) notes.push(`${JSON.stringify(schema.default)} if left out`)
  return notes
}
