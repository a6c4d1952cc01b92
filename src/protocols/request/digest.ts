import { createHash } from 'node:crypto'

/** Longer texts are files. They stand for themselves by their own hash: to write all of them anew costs far more. */
const LONG_CHARS = 64 * 1024

/** SHA-256 of a JSON value; the order of an object's keys does not matter. */
export const digestOf = (value: unknown): string => sha256(JSON.stringify(value, plain))

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONG_CHARS ? `sha256:${sha256(value)}` : value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}
