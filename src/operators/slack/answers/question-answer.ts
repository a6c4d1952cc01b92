// What a person wrote as the answer to a tool's question, as the value that the question asks for.

import { isRecord } from '../../../domain/is-record.ts'
import type { JsonSchema } from '../../../domain/tool-settings.ts'

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
  const parsed = jsonOf(trimmed)
  return isRecord(parsed) ? { value: parsed } : null
}

/** Whether a person can answer with one value, so that they need not write JSON. */
export const isOneValue = ({ properties }: JsonSchema): boolean =>
  !isRecord(properties) || Object.keys(properties).length === 1

const YES: readonly string[] = ['yes', 'true', 'y', 'on']
const NO: readonly string[] = ['no', 'false', 'n', 'off']

function fieldValue(field: Record<string, unknown>, text: string): { value: unknown } | null {
  const allowed = allowedValues(field)
  if (allowed !== null) {
    const isMeant = (value: unknown): boolean => valueText(value).toLowerCase() === text.toLowerCase()
    const exact = allowed.filter((value) => valueText(value) === text)
    const [meant, ...others] = exact.length > 0 ? exact : allowed.filter(isMeant)
    return meant === undefined || others.length > 0 ? null : { value: meant }
  }
  switch (field.type) {
    case 'string':
      return { value: text }
    case 'integer':
    case 'number':
      return /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i.test(text) ? { value: Number(text) } : null
    case 'boolean':
      if (YES.includes(text.toLowerCase())) return { value: true }
      return NO.includes(text.toLowerCase()) ? { value: false } : null
    default: {
      const parsed = jsonOf(text)
      return parsed === undefined ? null : { value: parsed }
    }
  }
}

function allowedValues(field: Record<string, unknown>): unknown[] | null {
  if (Array.isArray(field.enum)) return field.enum
  const several = Array.isArray(field.oneOf) ? field.oneOf : []
  const isList = several.length > 0 && several.every((one) => isRecord(one) && 'const' in one)
  return isList ? several.map((one) => (isRecord(one) ? one.const : null)) : null
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null'))

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
