// What code gives as a schema -> JSON Schema for the model, and a check for the call.

import { z } from 'zod'
import type { JsonSchema } from '../../domain/tool-settings.ts'
import { isStandardSchema, type StandardSchema } from './standard-schema.ts'

export interface CodeSchema {
  /** Null when the library cannot say it as JSON Schema. */
  json: JsonSchema | null
  /** Why not. */
  problem: string
  /** Checks and transforms the arguments of a call; null for plain JSON Schema, which the engine checks. */
  check: StandardSchema | null
}

/** `input`: what the caller writes. `output`: what comes out of transforms. */
export function readCodeSchema(value: unknown, side: 'input' | 'output'): CodeSchema {
  if (isStandardSchema(value)) {
    const { vendor } = value['~standard']
    try {
      const json = jsonSchemaOf(value, side)
      const problem = `schemas of ${vendor} do not say themselves as JSON Schema`
      return { json: json === null ? null : plain(json), problem, check: value }
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown'
      return { json: null, problem: `the ${vendor} schema cannot be said as JSON Schema: ${why}`, check: value }
    }
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { json: plain({ ...value }), problem: '', check: null }
  return {
    json: null,
    problem: 'it is neither a Standard Schema (zod, Valibot, ArkType …) nor JSON Schema',
    check: null,
  }
}

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

/** Zod 4, also another copy of it than ours. */
const isZod = (schema: object): schema is z.core.$ZodType => '_zod' in schema

/** Models are sent the schema: data only, and without the name of its dialect, which some refuse. */
function plain(schema: JsonSchema): JsonSchema {
  const copy: unknown = JSON.parse(JSON.stringify(schema))
  const { $schema: _, ...rest } = typeof copy === 'object' && copy !== null ? { $schema: '', ...copy } : { $schema: '' }
  return rest
}
