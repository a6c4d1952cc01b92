// A JSON Schema as `read-schema.ts` prepares it and `evaluate.ts` uses it.

import { isRecord } from '../../domain/is-record.ts'
import type { LinearPattern } from './linear-pattern.ts'

export const jsonTypes = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
export type JsonType = (typeof jsonTypes)[number]

export const isType = (value: unknown): value is JsonType => jsonTypes.some((type) => type === value)

export function isOfType(value: unknown, type: JsonType): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type
  }
}

/** A keyword that the schema does not have is left out. */
export interface SchemaNode {
  /** The schema is `false`: no value fits. */
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
  /** `matcher` is null for a pattern that cannot be followed in linear time. It is not enforced. */
  pattern?: { source: string; matcher: LinearPattern | null }
  format?: string
}
