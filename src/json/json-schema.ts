// Checks a value against a JSON Schema: the arguments of a call, a structured answer. Draft 2020-12, and 07 or 04 if `$schema` says so.
// MCP servers and AG-UI clients send schemas too, so this is an interpreter with a bound on its work: no schema becomes code, no pattern
// goes to a backtracking regular expression engine, and nothing is fetched.

import { createSchemaBudget, type SchemaBudget } from './schema/budget.ts'
import { evaluate } from './schema/evaluate.ts'
import { createMeter, Unchecked } from './schema/meter.ts'
import { MAX_PROBLEMS, type Problem, sentence } from './schema/problem.ts'
import { readSchema } from './schema/read-schema.ts'
import { withDefaults } from './schema/with-defaults.ts'

export interface JsonCheck {
  /** Names what is not enforced: patterns that cannot be followed. */
  warnings: readonly string[]
  /**
   * `value` is a copy with defaults for absent properties: in objects and lists, also behind `$ref` and `allOf`, but not in
   * alternatives. `problems` are at most ten short sentences that a model can act on.
   */
  check(value: unknown): { ok: true; value: unknown } | { ok: false; problems: string[] }
}

export interface SchemaReading {
  /** Shared by schemas that come together. By default the schema has one of its own. */
  budget?: SchemaBudget
  /** Patterns in the syntax of another language are not enforced. Otherwise they are an error. */
  foreignPatterns?: boolean
}

const checks = new WeakMap<object, JsonCheck>()

/**
 * For a schema that is used again and again: of a tool, or of an agent's answers. It is read only the first time, because reading costs
 * more than checking, and must not be changed afterwards. Throws `config_invalid`, like `createJsonCheck`.
 */
export function jsonCheckOf(schema: object): JsonCheck {
  const known = checks.get(schema)
  if (known !== undefined) return known
  const check = createJsonCheck(schema, { foreignPatterns: true })
  checks.set(schema, check)
  return check
}

/** Throws `config_invalid` for a schema that is broken, or too large for the budget. */
export function createJsonCheck(
  schema: unknown,
  { budget = createSchemaBudget(), foreignPatterns = false }: SchemaReading = {},
): JsonCheck {
  const { root, warnings } = readSchema(schema, { budget, foreignPatterns, report: null, visit: null })
  return {
    warnings,
    check(value) {
      const meter = createMeter()
      try {
        const filled = withDefaults([root], value, '', 0, meter)
        const problems: Problem[] = []
        if (evaluate(root, filled, '', problems, null, meter)) return { ok: true, value: filled }
        return { ok: false, problems: [...new Set(problems.map(sentence))].slice(0, MAX_PROBLEMS) }
      } catch (error) {
        if (error instanceof Unchecked) return { ok: false, problems: [error.message] }
        throw error
      }
    },
  }
}
