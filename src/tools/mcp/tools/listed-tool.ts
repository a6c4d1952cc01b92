// A tool as its server lists it. Read with tolerance: one that is broken must not hide the others.

import { z } from 'zod'
import type { JsonSchema } from '../../../domain/tool-settings.ts'

export interface ListedTool {
  /** The server's own name. */
  name: string
  description: string
  inputSchema: JsonSchema & { type: 'object' }
  outputSchema: JsonSchema | null
  readOnly: boolean
  idempotent: boolean
  /** All that the server says of it, unchanged. */
  definition: unknown
}

export const toolPageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })

const MAX_DESCRIPTION_CHARS = 10_000
const MAX_SCHEMA_CHARS = 100_000

const absent = <T>(value: T | null | undefined): T | undefined => value ?? undefined

const listedSchema = z.object({
  name: z.string().min(1).max(1_000),
  title: z.string().nullish().transform(absent),
  description: z.string().nullish().transform(absent),
  inputSchema: z.record(z.string(), z.unknown()).nullish().transform(absent),
  outputSchema: z.unknown().optional(),
  execution: z.object({ taskSupport: z.unknown().optional() }).nullish().transform(absent),
  annotations: z
    .object({ title: z.unknown(), readOnlyHint: z.unknown(), idempotentHint: z.unknown() })
    .partial()
    .nullish()
    .transform(absent),
})

/** The tool, or what is wrong with it. */
export function readListedTool(listed: unknown): ListedTool | { name: string; problem: string } {
  const read = listedSchema.safeParse(listed)
  const name = nameOf(listed)
  if (!read.success) {
    const [issue] = read.error.issues
    return { name, problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a tool'}` }
  }
  const { title, description, inputSchema = {}, outputSchema, annotations, execution } = read.data
  if (execution?.taskSupport === 'required') return { name, problem: 'it runs only as a task, which is not supported' }
  const type = inputSchema.type ?? 'object'
  if (type !== 'object') return { name, problem: `its arguments are not an object but ${JSON.stringify(type)}` }
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS) {
    return { name, problem: `the schema of its arguments is longer than ${MAX_SCHEMA_CHARS} characters` }
  }
  const text = (description ?? title ?? '').trim()
  return {
    name,
    description: text.length > MAX_DESCRIPTION_CHARS ? `${text.slice(0, MAX_DESCRIPTION_CHARS)} …` : text,
    inputSchema: objectSchema(inputSchema),
    outputSchema: outputSchemaOf(outputSchema),
    readOnly: annotations?.readOnlyHint === true,
    idempotent: annotations?.idempotentHint === true,
    definition: definitionOf(listed),
  }
}

/** `_meta` is for whoever shows it, and may differ in every answer. */
function definitionOf(listed: unknown): unknown {
  const { _meta: _shown, ...definition } = isRecord(listed) ? listed : {}
  return definition
}

function objectSchema(schema: JsonSchema): JsonSchema & { type: 'object' } {
  // Which draft it was written for says nothing to a model, and some providers refuse the key.
  const { $schema: _draft, properties, ...rest } = schema
  return { ...rest, type: 'object', properties: isRecord(properties) ? properties : {} }
}

function outputSchemaOf(schema: unknown): JsonSchema | null {
  if (!isRecord(schema) || JSON.stringify(schema).length > MAX_SCHEMA_CHARS) return null
  const { $schema: _draft, ...rest } = schema
  return rest
}

function nameOf(listed: unknown): string {
  const name = isRecord(listed) ? listed.name : undefined
  return typeof name === 'string' ? name.slice(0, 1_000) : '(without a name)'
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
