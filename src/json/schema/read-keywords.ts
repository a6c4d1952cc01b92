// How each keyword of JSON Schema is read.

import { isRecord } from '../../domain/is-record.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { describeValue } from '../describe-value.ts'
import { canonicalJson } from '../digest.ts'
import type { LinearPattern } from './linear-pattern.ts'
import { broken, escapePointer } from './problem.ts'
import { EXAMPLE, type References } from './references.ts'
import { isType, type JsonType, jsonTypes, type SchemaNode } from './schema-node.ts'

/** How deep a value in `enum` and `const` may be nested. */
const MAX_VALUE_DEPTH = 100

/** What a keyword is read with. */
export interface Reading {
  nodeOf(raw: unknown, pointer: string): SchemaNode
  patternOf(source: string, pointer: string): LinearPattern | null
  references: References
  /** The schema that has the keyword. */
  raw: Record<string, unknown>
  /** Definitions that nothing refers to are read too. */
  isWhole: boolean
}

/** Reads one keyword into the node. Throws `config_invalid`. */
type ReadKeyword = (node: SchemaNode, value: unknown, at: string, reading: Reading) => void

const schemas = (value: unknown, at: string, { nodeOf }: Reading): SchemaNode[] =>
  list(value, at, 'JSON Schemas').map((inner, i) => nodeOf(inner, `${at}/${i}`))

const schemasByName = (value: unknown, at: string, { nodeOf }: Reading): Map<string, SchemaNode> =>
  new Map(byName(value, at).map(([name, inner]) => [name, nodeOf(inner, `${at}/${escapePointer(name)}`)]))

const readOne =
  (
    key:
      | 'not'
      | 'if'
      | 'then'
      | 'else'
      | 'contains'
      | 'propertyNames'
      | `${'additional' | 'unevaluated'}Properties`
      | 'unevaluatedItems',
  ): ReadKeyword =>
  (node, value, at, { nodeOf }) => {
    node[key] = nodeOf(value, at)
  }

const readMany =
  (key: 'allOf' | 'anyOf' | 'oneOf' | 'prefixItems'): ReadKeyword =>
  (node, value, at, reading) => {
    node[key] = schemas(value, at, reading)
  }

const readCount =
  (key: `${'min' | 'max'}${'Properties' | 'Contains' | 'Items' | 'Length'}`): ReadKeyword =>
  (node, value, at) => {
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0)
      throw broken(at, `expected a whole number of at least 0, found ${describeValue(value)}.`)
    node[key] = value
  }

/** `exclusive`: draft 4 has a flag here, beside the bound. */
const readBound =
  (key: 'minimum' | 'maximum', exclusive: 'exclusiveMinimum' | 'exclusiveMaximum'): ReadKeyword =>
  (node, value, at, { raw }) => {
    node[raw[exclusive] === true ? exclusive : key] = number(value, at)
  }

const readExclusive =
  (key: 'exclusiveMinimum' | 'exclusiveMaximum'): ReadKeyword =>
  (node, value, at) => {
    if (typeof value !== 'boolean') node[key] = number(value, at)
  }

const readReference: ReadKeyword = (node, value, at, { nodeOf, references, raw }) => {
  if (typeof value !== 'string') throw broken(at, `expected text, found ${describeValue(value)}. ${EXAMPLE}`)
  node.ref = nodeOf(references.target(raw, value, at), value.replace(/^#/, ''))
}

const readDefinitions: ReadKeyword = (_node, value, at, reading) => {
  if (reading.isWhole) schemasByName(value, at, reading)
}

const readValues =
  (listed: (value: unknown, at: string) => unknown[]): ReadKeyword =>
  (node, value, at) => {
    node.allowed = [...(node.allowed ?? []), new Set(listed(value, at).map((one) => canonical(one, at)))]
  }

/** By keyword. A Map, because strangers choose the names. */
export const readers = new Map<string, ReadKeyword>(
  Object.entries<ReadKeyword>({
    $ref: readReference,
    $dynamicRef: readReference,
    $recursiveRef: readReference,
    $defs: readDefinitions,
    definitions: readDefinitions,

    default(node, value) {
      node.default = { value }
    },
    type(node, value, at) {
      node.types = types(value, at)
    },
    const: readValues((value) => [value]),
    enum: readValues((value, at) => list(value, at, 'values', 'enum: [ small, large ]')),
    allOf: readMany('allOf'),
    anyOf: readMany('anyOf'),
    oneOf: readMany('oneOf'),
    not: readOne('not'),
    if: readOne('if'),
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
    then: readOne('then'),
    else: readOne('else'),

    properties(node, value, at, reading) {
      node.properties = schemasByName(value, at, reading)
    },
    patternProperties(node, value, at, { nodeOf, patternOf }) {
      node.patternProperties = byName(value, at).map(([source, inner]) => {
        const where = `${at}/${escapePointer(source)}`
        return { pattern: patternOf(source, where), node: nodeOf(inner, where) }
      })
    },
    additionalProperties: readOne('additionalProperties'),
    unevaluatedProperties: readOne('unevaluatedProperties'),
    propertyNames: readOne('propertyNames'),
    required(node, value, at) {
      node.required = names(value, at)
    },
    minProperties: readCount('minProperties'),
    maxProperties: readCount('maxProperties'),
    dependentRequired(node, value, at) {
      node.dependentRequired ??= new Map()
      for (const [name, needed] of byName(value, at))
        node.dependentRequired.set(name, names(needed, `${at}/${escapePointer(name)}`))
    },
    dependentSchemas(node, value, at, reading) {
      node.dependentSchemas = new Map([...(node.dependentSchemas ?? []), ...schemasByName(value, at, reading)])
    },
    dependencies(node, value, at, { nodeOf }) {
      node.dependentRequired ??= new Map()
      node.dependentSchemas ??= new Map()
      for (const [name, needed] of byName(value, at)) {
        const where = `${at}/${escapePointer(name)}`
        if (Array.isArray(needed)) node.dependentRequired.set(name, names(needed, where))
        else node.dependentSchemas.set(name, nodeOf(needed, where))
      }
    },

    prefixItems: readMany('prefixItems'),
    items(node, value, at, reading) {
      if (!Array.isArray(value)) node.items = reading.nodeOf(value, at)
      // Before 2020-12 a list of items was what `prefixItems` is now, and `additionalItems` described the rest.
      else if (reading.raw.prefixItems === undefined) node.prefixItems = schemas(value, at, reading)
    },
    additionalItems(node, value, at, { nodeOf, raw }) {
      if (Array.isArray(raw.items)) node.items = nodeOf(value, at)
    },
    unevaluatedItems: readOne('unevaluatedItems'),
    contains: readOne('contains'),
    minContains: readCount('minContains'),
    maxContains: readCount('maxContains'),
    minItems: readCount('minItems'),
    maxItems: readCount('maxItems'),
    uniqueItems(node, value) {
      if (value === true) node.uniqueItems = true
    },

    minimum: readBound('minimum', 'exclusiveMinimum'),
    maximum: readBound('maximum', 'exclusiveMaximum'),
    exclusiveMinimum: readExclusive('exclusiveMinimum'),
    exclusiveMaximum: readExclusive('exclusiveMaximum'),
    multipleOf(node, value, at) {
      node.multipleOf = number(value, at)
      if (node.multipleOf <= 0) throw broken(at, `expected a number above 0, found ${node.multipleOf}.`)
    },

    minLength: readCount('minLength'),
    maxLength: readCount('maxLength'),
    pattern(node, value, at, { patternOf }) {
      if (typeof value !== 'string') throw broken(at, `expected a regular expression, found ${describeValue(value)}.`)
      node.pattern = { source: value, matcher: patternOf(value, at) }
    },
    format(node, value) {
      if (typeof value === 'string') node.format = value
    },
  }),
)

/** Every keyword of JSON Schema, also those that only describe. */
export const keywords: readonly string[] = [
  ...readers.keys(),
  ...'title description examples example nullable readOnly writeOnly deprecated'.split(' '),
  ...'contentEncoding contentMediaType contentSchema'.split(' '),
  ...'$schema $id $anchor $dynamicAnchor $comment $vocabulary'.split(' '),
]

function list(value: unknown, at: string, of: string, example?: string): unknown[] {
  if (Array.isArray(value)) return value
  const advice = example === undefined ? '' : ` Write e.g. ${example}`
  throw broken(at, `expected a list of ${of}, found ${describeValue(value)}.${advice}`)
}

function names(value: unknown, at: string): string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === 'string')) return value
  throw broken(at, `expected a list of names, found ${describeValue(value)}. Write e.g. required: [ city ]`)
}

function byName(value: unknown, at: string): [string, unknown][] {
  if (isRecord(value)) return Object.entries(value)
  throw broken(at, `expected names with JSON Schemas, found ${describeValue(value)}.`)
}

function number(value: unknown, at: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw broken(at, `expected a number, found ${describeValue(value)}.`)
}

function canonical(value: unknown, pointer: string): string {
  const isDeeper = (inner: unknown, levels: number): boolean =>
    typeof inner === 'object' &&
    inner !== null &&
    (levels === 0 || Object.values(inner).some((one) => isDeeper(one, levels - 1)))
  if (isDeeper(value, MAX_VALUE_DEPTH)) throw broken(pointer, `it is nested more than ${MAX_VALUE_DEPTH} levels deep.`)
  return canonicalJson(value)
}

function types(value: unknown, pointer: string): JsonType[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  const known = new Set<JsonType>()
  for (const type of list) {
    if (!isType(type)) throw broken(pointer, notType(type))
    known.add(type)
  }
  return [...known]
}

function notType(value: unknown): string {
  const near = typeof value === 'string' ? didYouMean(value, jsonTypes) : null
  const advice = near === null ? 'Write e.g. type: string' : `Did you mean ${near}?`
  return `expected one of ${jsonTypes.join(', ')}, found ${describeValue(value)}. ${advice}`
}
