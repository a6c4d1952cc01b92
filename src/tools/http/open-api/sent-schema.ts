// Turns a schema of an OpenAPI document into JSON Schema that stands alone: references are resolved, and keywords that only OpenAPI
// has are translated or left out.

import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import type { OpenApiDocument } from './document.ts'

/** The model sees the whole schema on every step. */
const MAX_NODES = 400
/** How many nested references are resolved. If the result is too large, the next smaller number is tried. */
const DEPTHS = [8, 5, 3, 2, 1]

/**
 * The schema of something that is sent. Where a schema contains itself, or is nested too deeply, any value is allowed: the service
 * checks it anyway.
 */
export function sentSchema(document: OpenApiDocument, schema: unknown): JsonSchema {
  let result: JsonSchema = {}
  for (const depth of DEPTHS) {
    const expanded = expandSchema(document, schema, depth)
    result = expanded.schema
    if (expanded.isWhole) break
  }
  return result
}

function expandSchema(
  document: OpenApiDocument,
  schema: unknown,
  depth: number,
): { schema: JsonSchema; isWhole: boolean } {
  let nodes = 0
  const expand = (value: unknown, open: readonly string[]): unknown => {
    if (!isRecord(value)) return value === false ? false : {}
    nodes += 1
    if (nodes > MAX_NODES) return {}
    if (typeof value.$ref === 'string') {
      const { $ref: reference, ...beside } = value
      if (open.includes(reference) || open.length === depth) return described(beside)
      return expand(merged(document.target(reference), beside), [...open, reference])
    }
    const hidden = hiddenProperties(document, value.properties)
    const entries = Object.entries(value).flatMap(([key, content]): [string, unknown][] => {
      if (DROPPED.has(key) || key.startsWith('x-')) return []
      if (key === 'pattern' && !isPattern(content)) return []
      if (key === 'required' && Array.isArray(content)) return [[key, content.filter((name) => !hidden.has(name))]]
      if (SCHEMAS.has(key) && Array.isArray(content)) return [[key, content.map((part) => expand(part, open))]]
      if (ONE_SCHEMA.has(key) && isRecord(content)) return [[key, expand(content, open)]]
      if (SCHEMA_MAPS.has(key) && isRecord(content)) {
        const visible = Object.entries(content).filter(([name]) => key !== 'properties' || !hidden.has(name))
        return [[key, Object.fromEntries(visible.map(([name, part]) => [name, expand(part, open)]))]]
      }
      return [[key, content]]
    })
    return modern(Object.fromEntries(entries), value.nullable === true)
  }
  const result = expand(schema, [])
  return { schema: isRecord(result) ? result : {}, isWhole: nodes <= MAX_NODES }
}

/** In OpenAPI 3.1, keywords beside a `$ref` add to what it points to. */
const merged = (target: unknown, beside: Record<string, unknown>): unknown =>
  isRecord(target) ? { ...target, ...beside } : target

const described = ({ description }: Record<string, unknown>): JsonSchema =>
  typeof description === 'string' ? { description } : {}

/** Read-only properties, which only the service may set. */
function hiddenProperties(document: OpenApiDocument, properties: unknown): ReadonlySet<unknown> {
  if (!isRecord(properties)) return new Set()
  const isReadOnly = (property: unknown): boolean => {
    if (!isRecord(property)) return false
    if (property.readOnly === true) return true
    return typeof property.$ref === 'string' && isReadOnly(document.resolve(property))
  }
  return new Set(Object.keys(properties).filter((name) => isReadOnly(properties[name])))
}

/** Translates keywords of OpenAPI 3.0 that JSON Schema writes differently. */
function modern(schema: Record<string, unknown>, isNullable: boolean): JsonSchema {
  const result = { ...schema }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof result[flag] !== 'boolean') continue
    const value = result[bound]
    const isExclusive = result[flag]
    delete result[flag]
    if (!isExclusive || value === undefined) continue
    delete result[bound]
    result[flag] = value
  }
  if (!isNullable) return result
  if (Array.isArray(result.enum) && !result.enum.includes(null)) result.enum = [...result.enum, null]
  if (typeof result.type === 'string') result.type = [result.type, 'null']
  return result
}

function isPattern(value: unknown): boolean {
  try {
    new RegExp(String(value), 'u')
    return true
  } catch {
    return false
  }
}

const DROPPED: ReadonlySet<string> = new Set([
  '$anchor',
  '$comment',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$schema',
  'deprecated',
  'discriminator',
  'example',
  'examples',
  'externalDocs',
  'nullable',
  'readOnly',
  'writeOnly',
  'xml',
])
const SCHEMAS: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const SCHEMA_MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])
const ONE_SCHEMA: ReadonlySet<string> = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
