// A bound on what reading schemas may cost. Strangers send them, and the schemas of one request, one MCP server or one file share a
// budget: a hundred schemas that are harmless one by one must not hold up or end the server together.

import { broken } from './problem.ts'

/** Far above what people and generators write. Reading this much takes some tens of milliseconds. */
export const MAX_CHARS = 1_000_000
export const MAX_VALUES = 30_000
const MAX_PATTERNS = 1_000
/** Steps of all patterns, with their counted repetitions written out. */
const MAX_STATES = 100_000

/** Refusing a schema costs time too. After this many, the rest is refused unread. */
const MAX_REFUSED = 10

export interface SchemaBudget {
  /** True when a schema was refused because it and those before it were too large. A smaller one may still fit. */
  readonly hasRefused: boolean
  /** Call it before a schema is read. Throws `config_invalid` for one that is too large. */
  admit(schema: unknown): void
  /** Whether one more pattern may be read. */
  pattern(): boolean
  /** Whether that many states may be built. */
  states(count: number): boolean
}

export function createSchemaBudget(): SchemaBudget {
  let chars = MAX_CHARS
  let values = MAX_VALUES
  let patterns = MAX_PATTERNS
  let states = MAX_STATES
  let refused = 0
  return {
    get hasRefused() {
      return refused > 0
    },
    admit(schema) {
      const left = refused > MAX_REFUSED ? null : whatIsLeft(schema, chars, values)
      if (left !== null) {
        chars = left.chars
        values = left.values
        return
      }
      refused += 1
      throw broken(
        '',
        `it and the schemas that came with it have more than ${MAX_CHARS} characters or ${MAX_VALUES} values. Make them smaller.`,
      )
    },
    pattern() {
      patterns -= 1
      return patterns >= 0
    },
    states(count) {
      if (count > states) return false
      states -= count
      return true
    },
  }
}

/** What is left of the budget after this schema; null when the schema is too large for it. */
function whatIsLeft(schema: unknown, chars: number, values: number): { chars: number; values: number } | null {
  const left = { chars, values }
  // A list instead of recursion: the schema may be nested to any depth.
  const open: unknown[] = [schema]
  for (let i = 0; i < open.length; i += 1) {
    const value = open[i]
    if (typeof value === 'string') left.chars -= value.length + 2
    else if (Array.isArray(value)) for (const inner of value) open.push(inner)
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        left.chars -= key.length + 4
        open.push(inner)
      }
    } else left.chars -= 4
    if (left.chars < 0 || open.length > left.values) return null
  }
  left.values -= open.length
  return left
}
