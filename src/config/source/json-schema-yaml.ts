// The JSON Schemas in agent.yaml: arguments and results of tools, the format of answers.

import { z } from 'zod'
import { isRecord } from '../../domain/is-record.ts'
import { describeValue } from '../../json/describe-value.ts'
import { isType } from '../../json/schema/schema-node.ts'
import { checkJsonSchema } from './check-json-schema.ts'
import { reporter } from './schema-key.ts'

// OpenAI's `{type: json_schema, json_schema: …}` is an envelope around a JSON Schema, not a JSON Schema.
const isJsonSchema = (value: Record<string, unknown>): boolean => {
  if (Object.keys(value).length === 0) return false
  return value.type === undefined || [value.type].flat().every(isType)
}

export const jsonSchema = () =>
  z
    .record(z.string(), z.unknown())
    .refine(isJsonSchema, { error: '', abort: true })
    .superRefine((schema, context) => checkJsonSchema(schema, reporter(context)))

export const noParameters: Record<string, unknown> = { type: 'object', properties: {}, additionalProperties: false }

/**
 * The arguments of a tool: a JSON Schema of an object, or the short form, which is a map from each name to its schema. The result is a
 * JSON Schema in both cases.
 */
export const parameters = () =>
  z
    .record(z.string(), z.unknown())
    .superRefine((value, context) => {
      const report = reporter(context)
      if (isWholeSchema(value)) {
        checkJsonSchema(value, report)
        if (value.type !== undefined && value.type !== 'object') {
          report(
            ['type'],
            `the arguments of a tool are an object, found ${describeValue(value.type)}. Write type: object`,
          )
        }
        return
      }
      for (const [name, schema] of Object.entries(value)) {
        if (!isRecord(schema)) {
          report([name], `expected a schema, found ${describeValue(schema)}. Write e.g. ${name}: { type: string }`)
          continue
        }
        const { optional, ...rest } = schema
        if (optional !== undefined && typeof optional !== 'boolean') {
          report([name, 'optional'], `expected true or false, found ${describeValue(optional)}. Write optional: true`)
        }
        if (typeof rest.required === 'boolean') {
          const advice = 'Every parameter without a default is required; write optional: true where it is not'
          report([name, 'required'], `expected a list of names, found ${rest.required}. ${advice}`)
          delete rest.required
        }
        checkJsonSchema(rest, (path, message) => report([name, ...path], message))
      }
    })
    .transform((value) => (isWholeSchema(value) ? { type: 'object', ...value } : objectSchema(value)))

/**
 * In the short form, a parameter may be called `type` or `properties`. Its value is then a map that describes the parameter, not a word or
 * a map of names.
 */
function isWholeSchema(value: Record<string, unknown>): boolean {
  const { type, properties, anyOf, oneOf, allOf, $ref } = value
  if (type !== undefined && !isRecord(type)) return true
  if (Array.isArray(anyOf) || Array.isArray(oneOf) || Array.isArray(allOf) || typeof $ref === 'string') return true
  return (
    isRecord(properties) &&
    Object.values(properties).every(isRecord) &&
    !('type' in properties && !isRecord(properties.type))
  )
}

function objectSchema(parameters: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(parameters).map(([name, schema]) => {
    const { optional, ...rest } = isRecord(schema) ? schema : {}
    return { name, schema: rest, isRequired: optional !== true && rest.default === undefined }
  })
  const required = entries.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  }
}

/** The names of the arguments, or null if the schema does not list them. */
export function parameterNames(schema: Record<string, unknown> | undefined): string[] | null {
  return schema !== undefined && isRecord(schema.properties) ? Object.keys(schema.properties) : null
}
