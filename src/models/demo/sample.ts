import { isObject, type JsonObject } from '../wire/json.ts'

/** The smallest value that fits a JSON Schema, for an answer that must have a shape. Knows the common keywords. */
export function sampleOf(schema: unknown, depth = 0): unknown {
  if (!isObject(schema) || depth > 8) return null
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null
  const alternatives: unknown = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) return sampleOf(alternatives[0], depth + 1)
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || isObject(schema.properties)) return sampleObject(schema, depth)
  if (type === 'array') {
    const count = typeof schema.minItems === 'number' ? Math.min(schema.minItems, 10) : 0
    return Array.from({ length: count }, () => sampleOf(schema.items, depth + 1))
  }
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? Math.ceil(schema.minimum) : 0
  if (type === 'boolean') return false
  if (type === 'null') return null
  return 'demo'.padEnd(typeof schema.minLength === 'number' ? Math.min(schema.minLength, 1000) : 0, '.')
}

function sampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required) ? schema.required : Object.keys(properties)
  return Object.fromEntries(
    required.filter((name) => typeof name === 'string').map((name) => [name, sampleOf(properties[name], depth + 1)]),
  )
}
