// What reading schemas may cost. They are strangers' words, and the schemas of one request, of one MCP server or of one file share a
// budget: a hundred that are harmless one by one must not hold up or end the server together.

import { broken } from './broken.ts'

/** Far above what people and generators write, and some tens of milliseconds to read. */
export const MAX_CHARS = 1_000_000
export const MAX_VALUES = 50_000
const MAX_PATTERNS = 1_000
/** Steps of all patterns, with their counted repetitions written out. */
const MAX_STATES = 100_000

export interface SchemaBudget {
  /** Whether a schema was refused because it, or what came before it, is too large. */
  readonly isSpent: boolean
  /** To be called before anything is made of a schema. Throws `config_invalid` for one that is too large. */
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
  const isSpent = () => chars < 0 || values < 0
  return {
    get isSpent() {
      return isSpent()
    },
    admit(schema) {
      // A list of what is open rather than recursion: nobody has looked yet how deep it is.
      const open: unknown[] = [schema]
      for (let i = 0; i < open.length && !isSpent(); i += 1) {
        const value = open[i]
        values -= 1
        if (typeof value === 'string') chars -= value.length + 2
        else if (Array.isArray(value)) {
          if (value.length > values) values = -1
          else for (const inner of value) open.push(inner)
        } else if (typeof value === 'object' && value !== null) {
          for (const [key, inner] of Object.entries(value)) {
            chars -= key.length + 4
            open.push(inner)
          }
        } else chars -= 4
      }
      if (!isSpent()) return
      throw broken(
        '',
        `and the schemas that came with it have more than ${MAX_CHARS} characters or ${MAX_VALUES} values; make them smaller`,
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
