// What a person wrote as the answer to a tool's question, as the value that the question asks for.

import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { allowedValues, valueText } from '../../../supervision/records/question-choices.ts'

/** `null`: a text cannot say it. What the value may be is checked by whoever takes the answer. */
export function questionAnswer(schema: JsonSchema, text: string): { value: unknown } | null {
  const trimmed = text.trim()
  if (!isRecord(schema.properties)) return fieldValue(schema, trimmed)
  const [only, ...others] = Object.entries(schema.properties)
  if (only !== undefined && others.length === 0) {
    const [name, field] = only
    const given = fieldValue(isRecord(field) ? field : {}, trimmed)
    return given === null ? null : { value: { [name]: given.value } }
  }
  const parsed = jsonIn(trimmed)
  return isRecord(parsed) ? { value: parsed } : null
}

/** Whether a person can answer with one value, so that they need not write JSON. */
export const isOneValue = ({ properties }: JsonSchema): boolean =>
  !isRecord(properties) || Object.keys(properties).length === 1

/** What people say for true and false. */
const BOOLEANS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'y', 'on'].map((word) => [word, 'true'] as const),
  ...['no', 'n', 'off'].map((word) => [word, 'false'] as const),
])

function fieldValue(field: Record<string, unknown>, text: string): { value: unknown } | null {
  const allowed = allowedValues(field)
  if (allowed.length > 0) {
    const wanted = field.type === 'boolean' ? (BOOLEANS.get(text.toLowerCase()) ?? text) : text
    const isMeant = (value: unknown): boolean => valueText(value).toLowerCase() === wanted.toLowerCase()
    const exact = allowed.filter((value) => valueText(value) === wanted)
    const [meant, ...others] = exact.length > 0 ? exact : allowed.filter(isMeant)
    return meant === undefined || others.length > 0 ? null : { value: meant }
  }
  switch (field.type) {
    case 'string':
      return { value: text }
    case 'integer':
    case 'number':
      return /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text) ? { value: Number(text) } : null
    default: {
      const parsed = jsonIn(text)
      return parsed === undefined ? null : { value: parsed }
    }
  }
}
