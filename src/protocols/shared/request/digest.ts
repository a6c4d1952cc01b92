import { createHash } from 'node:crypto'
import { LONG_CHARS, LongText } from '../../../http/body/long-text.ts'

/**
 * SHA-256 of a JSON value; the order of an object's keys does not matter. Long texts are files. They stand for themselves by their
 * own hash: to write all of them anew costs far more, and not all are in memory.
 */
export const digestOf = (value: unknown): string => sha256(JSON.stringify(value, plain))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONG_CHARS ? `sha256:${sha256(value)}` : value
  if (value instanceof LongText) return `sha256:${value.sha256}`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
