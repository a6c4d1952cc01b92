// Turns a schema in a tool's code into JSON Schema for the model and a check for the call.

import { z } from 'zod'
import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import { isRecord } from '../../domain/is-record.ts'
import { isStandardSchema, type StandardSchema } from './standard-schema.ts'

/** `check` checks and transforms the arguments of a call. It is null for plain JSON Schema, which the engine checks. */
export type CodeSchema = { check: StandardSchema | null } & (
  | { json: JsonSchema }
  /** `problem` says why there is no JSON Schema, and ends with what to do about it where the library is known. */
  | { json: null; problem: string }
)

/** `input`: what the caller writes. `output`: what comes out of transforms. */
export function readCodeSchema(value: unknown, side: 'input' | 'output'): CodeSchema {
  if (!isStandardSchema(value)) {
    if (isRecord(value)) return { json: plain(value), check: null }
    const problem = 'it is neither a Standard Schema (zod, Valibot, ArkType …) nor a JSON Schema.'
    return { json: null, problem, check: null }
  }
  try {
    const json = jsonSchemaOf(value, side)
    return json === null ? { json, problem: silent(value), check: value } : { json: plain(json), check: value }
  } catch (error) {
    const { vendor } = value['~standard']
    const why = error instanceof Error ? error.message : 'unknown'
    return { json: null, problem: `${vendor} cannot write this schema as JSON Schema: ${why}.`, check: value }
  }
}

function silent({ '~standard': { vendor } }: StandardSchema): string {
  const missing = `a schema of ${vendor} does not describe itself as JSON Schema (it has no ~standard.jsonSchema).`
  const advice = ADVICE.get(vendor)
  return advice === undefined ? missing : `${missing} ${advice}`
}

const ADVICE = new Map([
  ['zod', 'Use zod 4.'],
  ['valibot', 'Wrap it in toStandardJsonSchema of @valibot/to-json-schema.'],
  ['arktype', 'Use a newer version of arktype.'],
])

function jsonSchemaOf(schema: StandardSchema, side: 'input' | 'output'): JsonSchema | null {
  const standard = schema['~standard']
  if ('jsonSchema' in standard && isConverter(standard.jsonSchema))
    return standard.jsonSchema[side]({ target: 'draft-2020-12' })
  return isZod(schema) ? z.toJSONSchema(schema, { io: side }) : null
}

interface Converter {
  input(options: { target: string }): JsonSchema
  output(options: { target: string }): JsonSchema
}

const isConverter = (value: unknown): value is Converter =>
  typeof value === 'object' &&
  value !== null &&
  'input' in value &&
  typeof value.input === 'function' &&
  'output' in value &&
  typeof value.output === 'function'

/** Zod 4, also a copy of it that is not ours. */
const isZod = (schema: object): schema is z.core.$ZodType => '_zod' in schema

/** Models are sent the schema: data only, and without `$schema`, which some refuse. */
function plain({ $schema: _, ...schema }: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema))
}
