// The format that a request wants for its answer: `response_format` of chat completions, `text.format` of responses.

import { z } from 'zod'
import { isOpenObject, type JsonSchema } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import { createJsonCheck } from '../../json/json-schema.ts'
import { longTextProblems } from '../shared/request/validate.ts'

const schemaShape = {
  name: z.string().optional(),
  description: z.string().nullish(),
  schema: z.record(z.string(), z.unknown()).optional(),
  strict: z.boolean().nullish(),
}

const WORDS = '`text`, `json_object`, or a `json_schema` that the answer must match.'

/** `json_object`: any object. */
const ANY_OBJECT: JsonSchema = { type: 'object' }

/** `{ type, json_schema: { schema, … } }`. */
export const ChatFormatSchema = z
  .object({ type: z.string(), json_schema: z.object(schemaShape).optional() })
  .nullish()
  .describe(WORDS)

/** `{ type, schema, … }`. */
export const ResponseFormatSchema = z
  .object({ type: z.string(), ...schemaShape })
  .nullish()
  .describe(WORDS)

/** As in the request, because the answer repeats it. */
export interface AnswerFormat {
  name: string
  schema: JsonSchema
}

interface SentFormat {
  type: string
  name?: string | undefined
  schema?: Record<string, unknown> | undefined
}

/** Null means any text. Throws `invalid_request` for a format that is not supported. */
export function decodeFormat(sent: SentFormat | null | undefined, field: string): AnswerFormat | null {
  if (sent == null || sent.type === 'text') return null
  const refused = (detail: string) =>
    new ServerError('invalid_request', 'The answer cannot be given in this format.', {
      problems: [{ pointer: `/${field}`, detail }],
    })
  if (sent.type === 'json_object') return { name: 'answer', schema: ANY_OBJECT }
  if (sent.type !== 'json_schema') throw refused('Send the type text, json_object or json_schema.')
  const { name = 'answer', schema } = sent
  if (schema === undefined) throw refused('Send a JSON Schema with it.')
  const [tooLong] = longTextProblems(schema, [])
  if (tooLong !== undefined) throw refused(tooLong.detail)
  try {
    createJsonCheck(schema)
  } catch (error) {
    if (error instanceof ServerError) throw refused(`The schema cannot be used: ${error.message}`)
    throw error
  }
  return { name, schema }
}

/** As a response repeats it. A schema that allows any object was asked for as `json_object`. */
export function formatView(format: AnswerFormat | null) {
  if (format === null) return { type: 'text' as const }
  if (isOpenObject(format.schema)) return { type: 'json_object' as const }
  return { type: 'json_schema' as const, ...format, strict: true as const }
}
