import type { JsonSchema } from '../../../domain/tool-settings.ts'
import { isRecord } from '../is-record.ts'

export interface ObjectShape {
  properties: Record<string, unknown>
  required: string[]
}

/** The properties of a schema that says nothing else than which ones an object has; null for any other. */
export function objectShape(schema: JsonSchema): ObjectShape | null {
  if (Object.keys(schema).some((key) => !UNDERSTOOD.has(key))) return null
  if (schema.type !== undefined && schema.type !== 'object') return null
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) return null
  const parts = Array.isArray(schema.allOf)
    ? schema.allOf.map((part) => (isRecord(part) ? objectShape(part) : null))
    : []
  const own = isRecord(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : []
  if (!parts.every((part) => part !== null)) return null
  const shape = {
    properties: Object.fromEntries([...parts, { properties: own }].flatMap((part) => Object.entries(part.properties))),
    required: [...new Set([...parts.flatMap((part) => part.required), ...required])],
  }
  // An object of which nothing is said may hold anything; it has no names that arguments could have.
  return Object.keys(shape.properties).length === 0 ? null : shape
}

const UNDERSTOOD: ReadonlySet<string> = new Set([
  'additionalProperties',
  'allOf',
  'description',
  'properties',
  'required',
  'title',
  'type',
])
