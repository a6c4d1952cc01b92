import { isRecord } from '../../domain/is-record.ts'
import type { JsonObject } from '../wire/json.ts'

/** Keywords that the API refuses in an output schema. They go into the description instead. */
const IN_WORDS = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'not',
]
const KEPT = ['$ref', 'type', 'enum', 'const', 'title', 'default', 'required']
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']

/**
 * Reduces a JSON Schema to what `output_config.format` accepts: closed objects, `anyOf` for `oneOf`, no bounds. The result never
 * allows less than the original. The answer is still checked against the original.
 */
export function outputSchema(schema: unknown): unknown {
  if (!isRecord(schema)) return schema
  const reduced: JsonObject = {}
  for (const key of KEPT) if (schema[key] !== undefined) reduced[key] = schema[key]
  const words = IN_WORDS.filter((key) => schema[key] !== undefined && schema[key] !== false).map(
    (key) => `${key}: ${JSON.stringify(schema[key])}`,
  )
  const { format } = schema
  if (typeof format === 'string') {
    if (FORMATS.includes(format)) reduced.format = format
    else words.push(`format: ${format}`)
  }
  const description = [schema.description, words.join(', ')].filter((text) => typeof text === 'string' && text !== '')
  if (description.length > 0) reduced.description = description.join('\n')
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives)) reduced.anyOf = alternatives.map(outputSchema)
  if (Array.isArray(schema.allOf)) reduced.allOf = schema.allOf.map(outputSchema)
  if (schema.items !== undefined) reduced.items = outputSchema(schema.items)
  for (const key of ['properties', '$defs', 'definitions']) {
    const named = schema[key]
    if (!isRecord(named)) continue
    reduced[key] = Object.fromEntries(Object.entries(named).map(([name, value]) => [name, outputSchema(value)]))
  }
  if (schema.type === 'object' || isRecord(schema.properties)) reduced.additionalProperties = false
  return reduced
}
