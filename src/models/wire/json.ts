// Tolerant readers for the JSON that providers send. Written by hand, because they run once per token.

import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'

export type JsonObject = Record<string, unknown>

/** The text under `key`, or '' when it is missing or not a text. */
export function textAt(value: unknown, key: string): string {
  if (!isRecord(value)) return ''
  const text = value[key]
  return typeof text === 'string' ? text : ''
}

/** The count under `key`, or undefined when it is missing or not a number of 0 or more. */
export function countAt(value: unknown, key: string): number | undefined {
  if (!isRecord(value)) return undefined
  const count = value[key]
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined
}

/** The object in a JSON text, or null when the text is not JSON or not an object. */
export function parseObject(text: string): JsonObject | null {
  const value = jsonIn(text)
  return isRecord(value) ? value : null
}
