import { z } from 'zod'
import type { JsonSchema } from './json-schema-node.ts'

/** The JSON Schema behind error messages and the reference pages: with our own `expected` words still in it. */
export function validationSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })
}
