// A JSON Schema read once: checked to be one, its references resolved inside itself, its lists made quick to look up.
// `evaluate.ts` holds values against it.

import { isRecord } from '../../domain/is-record.ts'
import { canonicalJson } from '../digest.ts'
import { broken, shown } from './broken.ts'
import type { SchemaBudget } from './budget.ts'
import { createLinearPattern, type LinearPattern } from './linear-pattern.ts'
import { cut } from './problem.ts'
import { createReferences } from './references.ts'

export const jsonTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
export type JsonType = (typeof jsonTypes)[number]

/** What is left out says nothing. */
export interface SchemaNode {
  /** `false`: no value fits. */
  never?: true
  default?: { value: unknown }
  types?: JsonType[]
  /** `enum` and `const`, as canonical JSON. */
  allowed?: Set<string>[]
  ref?: SchemaNode
  allOf?: SchemaNode[]
  anyOf?: SchemaNode[]
  oneOf?: SchemaNode[]
  not?: SchemaNode
  if?: SchemaNode
  then?: SchemaNode
  else?: SchemaNode

  properties?: Map<string, SchemaNode>
  patternProperties?: { pattern: LinearPattern | null; node: SchemaNode }[]
  additionalProperties?: SchemaNode
  unevaluatedProperties?: SchemaNode
  propertyNames?: SchemaNode
  required?: string[]
  minProperties?: number
  maxProperties?: number
  dependentRequired?: Map<string, string[]>
  dependentSchemas?: Map<string, SchemaNode>

  prefixItems?: SchemaNode[]
  items?: SchemaNode
  unevaluatedItems?: SchemaNode
  contains?: SchemaNode
  minContains?: number
  maxContains?: number
  minItems?: number
  maxItems?: number
  uniqueItems?: true

  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number

  minLength?: number
  maxLength?: number
  /** `matcher` null: it cannot be followed in linear time and is not held against anything. */
  pattern?: { source: string; matcher: LinearPattern | null }
  format?: string
}

/** Of a value written in a schema. */
const MAX_VALUE_DEPTH = 100
/** Schemas that hold for one and the same value by way of one another. */
const MAX_IN_PLACE = 50

const one = [
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'unevaluatedItems',
  'contains',
] as const
const many = ['allOf', 'anyOf', 'oneOf'] as const
const counts = [
  'minProperties',
  'maxProperties',
  'minContains',
  'maxContains',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
] as const
const numbers = ['minimum', 'maximum'] as const

/** Of the patterns that are not enforced, as many as a person looks at. */
const MAX_NAMED = 5

export interface ReadSchema {
  root: SchemaNode
  /** What of it is held against nothing, in short sentences. */
  warnings: string[]
}

/**
 * Throws `config_invalid` for what is no schema, is too large for the budget, and for one that leads out of itself or in a circle. With
 * `foreignPatterns` a pattern of another language is not enforced, like all that cannot be followed; without, it is an error.
 */
export function readSchema(schema: unknown, budget: SchemaBudget, foreignPatterns: boolean): ReadSchema {
  budget.admit(schema)
  const warnings: string[] = []
  let unnamed = 0
  const matcher: Matcher = (source, pointer) => {
    const ignored = (why: string): null => {
      if (warnings.length < MAX_NAMED)
        warnings.push(`the pattern ${shown(source)} at ${cut(pointer, 200)} ${why} and is not enforced`)
      else unnamed += 1
      return null
    }
    try {
      return createLinearPattern(source, budget) ?? ignored('looks around, refers back or takes too many steps')
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      if (foreignPatterns) return ignored('is not a JavaScript regular expression')
      throw broken(pointer, `is no regular expression: ${shown(source)}`)
    }
  }
  const draft = isRecord(schema) && typeof schema.$schema === 'string' ? schema.$schema : ''
  const references = createReferences(schema, /draft-04/.test(draft))
  const legacy = /draft-0[3-7]/.test(draft)

  const nodes = new Map<unknown, SchemaNode>()
  const open: { raw: Record<string, unknown>; node: SchemaNode; pointer: string }[] = []
  const nodeOf = (raw: unknown, pointer: string): SchemaNode => {
    if (raw === true) return {}
    if (raw === false) return { never: true }
    if (!isRecord(raw)) throw broken(pointer, 'must be a schema: an object, true or false')
    const known = nodes.get(raw)
    if (known !== undefined) return known
    const node: SchemaNode = {}
    nodes.set(raw, node)
    open.push({ raw, node, pointer })
    return node
  }
  const root = nodeOf(schema, '')
  // A list of what is open rather than recursion: references can make a chain of any length.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { raw, node, pointer } = next
    const reference = raw.$ref ?? raw.$dynamicRef ?? raw.$recursiveRef
    if (reference !== undefined) {
      if (typeof reference !== 'string') throw broken(`${pointer}/$ref`, 'must be text like "#/$defs/name"')
      node.ref = nodeOf(references.target(raw, reference, `${pointer}/$ref`), reference.replace(/^#/, ''))
    }
    if (reference === undefined || !legacy) fill(node, raw, pointer, nodeOf, matcher)
    else if (raw.default !== undefined) node.default = { value: raw.default }
  }
  refuseCircles(nodes.values())
  if (unnamed > 0) warnings.push(`${unnamed} more patterns are not enforced`)
  return { root, warnings }
}

const escapeKey = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

type NodeOf = (raw: unknown, pointer: string) => SchemaNode
type Matcher = (source: string, pointer: string) => LinearPattern | null

function fill(node: SchemaNode, raw: Record<string, unknown>, pointer: string, nodeOf: NodeOf, matcher: Matcher): void {
  const has = (key: string): boolean => Object.hasOwn(raw, key) && raw[key] !== undefined
  const at = (key: string): string => `${pointer}/${key}`
  const list = (key: string): unknown[] => {
    const value = raw[key]
    if (!Array.isArray(value)) throw broken(at(key), 'must be a list')
    return value
  }
  const names = (value: unknown, where: string): string[] => {
    if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
      throw broken(where, 'must be a list of names')
    return value
  }
  const schemas = (key: string): SchemaNode[] => {
    const where = at(key)
    return list(key).map((inner, i) => nodeOf(inner, `${where}/${i}`))
  }
  const byName = (key: string): [string, unknown][] => {
    const value = raw[key]
    if (!isRecord(value)) throw broken(at(key), 'must be an object')
    return Object.entries(value)
  }
  const number = (key: string): number => {
    const value = raw[key]
    if (typeof value !== 'number' || !Number.isFinite(value)) throw broken(at(key), 'must be a number')
    return value
  }

  if (has('default')) node.default = { value: raw.default }
  if (has('type')) node.types = types(raw.type, at('type'))
  if (has('const')) node.allowed = [new Set([canonical(raw.const, at('const'))])]
  if (has('enum')) {
    node.allowed = [...(node.allowed ?? []), new Set(list('enum').map((value) => canonical(value, at('enum'))))]
  }

  for (const key of one) if (has(key)) node[key] = nodeOf(raw[key], at(key))
  for (const key of many) if (has(key)) node[key] = schemas(key)
  for (const key of numbers) if (has(key)) node[key] = number(key)
  for (const key of counts) {
    if (!has(key)) continue
    const count = number(key)
    if (!Number.isInteger(count) || count < 0) throw broken(at(key), 'must be 0 or a positive whole number')
    node[key] = count
  }
  for (const [key, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    // Draft 4 has a flag beside the bound instead of a bound of its own.
    if (typeof raw[key] !== 'boolean') {
      if (has(key)) node[key] = number(key)
    } else if (raw[key] && node[bound] !== undefined) {
      node[key] = node[bound]
      delete node[bound]
    }
  }
  if (has('multipleOf')) {
    node.multipleOf = number('multipleOf')
    if (node.multipleOf <= 0) throw broken(at('multipleOf'), 'must be more than 0')
  }

  if (has('properties')) {
    node.properties = new Map(
      byName('properties').map(([name, inner]) => [name, nodeOf(inner, `${at('properties')}/${escapeKey(name)}`)]),
    )
  }
  if (has('patternProperties')) {
    node.patternProperties = byName('patternProperties').map(([source, inner]) => {
      const where = `${at('patternProperties')}/${escapeKey(source)}`
      return { pattern: matcher(source, where), node: nodeOf(inner, where) }
    })
  }
  if (has('required')) node.required = names(raw.required, at('required'))
  if (has('dependentRequired')) {
    node.dependentRequired = new Map(
      byName('dependentRequired').map(([name, needed]) => [
        name,
        names(needed, `${at('dependentRequired')}/${escapeKey(name)}`),
      ]),
    )
  }
  if (has('dependentSchemas')) {
    node.dependentSchemas = new Map(
      byName('dependentSchemas').map(([name, inner]) => [
        name,
        nodeOf(inner, `${at('dependentSchemas')}/${escapeKey(name)}`),
      ]),
    )
  }
  if (has('dependencies')) {
    node.dependentRequired ??= new Map()
    node.dependentSchemas ??= new Map()
    for (const [name, needed] of byName('dependencies')) {
      const where = `${at('dependencies')}/${escapeKey(name)}`
      if (Array.isArray(needed)) node.dependentRequired.set(name, names(needed, where))
      else node.dependentSchemas.set(name, nodeOf(needed, where))
    }
  }

  if (has('prefixItems')) node.prefixItems = schemas('prefixItems')
  if (Array.isArray(raw.items)) {
    // Before 2020-12 a list of items was what `prefixItems` is now, and `additionalItems` the rest.
    node.prefixItems ??= schemas('items')
    if (has('additionalItems')) node.items = nodeOf(raw.additionalItems, at('additionalItems'))
  } else if (has('items')) node.items = nodeOf(raw.items, at('items'))
  if (raw.uniqueItems === true) node.uniqueItems = true

  if (has('pattern')) {
    if (typeof raw.pattern !== 'string') throw broken(at('pattern'), 'must be text')
    node.pattern = { source: raw.pattern, matcher: matcher(raw.pattern, at('pattern')) }
  }
  if (typeof raw.format === 'string') node.format = raw.format
}

function canonical(value: unknown, pointer: string): string {
  const isDeeper = (inner: unknown, levels: number): boolean =>
    typeof inner === 'object' &&
    inner !== null &&
    (levels === 0 || Object.values(inner).some((one) => isDeeper(one, levels - 1)))
  if (isDeeper(value, MAX_VALUE_DEPTH)) throw broken(pointer, `is nested more than ${MAX_VALUE_DEPTH} levels deep`)
  return canonicalJson(value)
}

const isType = (value: unknown): value is JsonType => jsonTypes.some((type) => type === value)

function types(value: unknown, pointer: string): JsonType[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  const known = new Set<JsonType>()
  for (const type of list) {
    if (!isType(type)) throw broken(pointer, `must be one of ${jsonTypes.join(', ')}, or a list of them`)
    known.add(type)
  }
  return [...known]
}

/** What holds for the same value that a node holds for. */
function* inPlace(node: SchemaNode): Iterable<SchemaNode> {
  if (node.ref !== undefined) yield node.ref
  if (node.not !== undefined) yield node.not
  if (node.if !== undefined) yield node.if
  if (node.then !== undefined) yield node.then
  if (node.else !== undefined) yield node.else
  if (node.allOf !== undefined) yield* node.allOf
  if (node.anyOf !== undefined) yield* node.anyOf
  if (node.oneOf !== undefined) yield* node.oneOf
  if (node.dependentSchemas !== undefined) yield* node.dependentSchemas.values()
}

/** A schema that holds for a value because it holds for that value has no meaning, and would be followed for ever. */
function refuseCircles(nodes: Iterable<SchemaNode>): void {
  const heights = new Map<SchemaNode, number>()
  const path = new Set<SchemaNode>()
  const height = (node: SchemaNode): number => {
    const known = heights.get(node)
    if (known !== undefined) return known
    if (path.has(node)) throw broken('', 'refers to itself in a circle')
    path.add(node)
    let highest = 0
    if (path.size <= MAX_IN_PLACE) for (const inner of inPlace(node)) highest = Math.max(highest, 1 + height(inner))
    path.delete(node)
    if (path.size + highest >= MAX_IN_PLACE)
      throw broken('', `has more than ${MAX_IN_PLACE} schemas that refer to one another`)
    heights.set(node, highest)
    return highest
  }
  for (const node of nodes) height(node)
}
