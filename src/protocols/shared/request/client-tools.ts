// Tools that a caller sends. The caller runs them, so they only have to be described to a model.

import type { JsonSchema } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { RunInput } from '../../../domain/session/run.ts'
import { createJsonCheck } from '../../../json/json-schema.ts'
import { createSchemaBudget, MAX_CHARS, MAX_VALUES, type SchemaBudget } from '../../../json/schema/budget.ts'
import { longTextProblems } from './validate.ts'

export interface BroughtTool {
  name: string
  description?: string | undefined
  parameters?: unknown
}

/** A function name that every provider accepts. */
const NAME = /^[a-zA-Z0-9_-]{1,64}$/

const MAX_TOOLS = 128

/**
 * Calls `leftOut` for each tool that cannot be offered, and `unenforced` for parts of a schema that will not be checked. Throws
 * `invalid_request` if the schemas are too large together: losing some of the tools silently would be worse.
 */
export function decodeClientTools(
  tools: readonly BroughtTool[],
  leftOut: (why: string, index: number) => void,
  unenforced: (what: string, index: number) => void,
): RunInput['clientTools'] {
  if (tools.length === 0) return []
  const taken = new Map<string, RunInput['clientTools'][number]>()
  const budget = createSchemaBudget()
  for (const [index, { name, description = '', parameters }] of tools.entries()) {
    if (!NAME.test(name)) leftOut('the name of a tool has 1 to 64 letters, digits, _ and -', index)
    else if (taken.has(name)) leftOut('another tool has this name', index)
    else if (taken.size >= MAX_TOOLS) leftOut(`a request may have at most ${MAX_TOOLS} tools`, index)
    else {
      const schema = schemaIn(parameters, budget, (what) => unenforced(what, index))
      if (budget.hasRefused) throw tooLarge(index)
      if (schema === null) leftOut('its parameters are not a JSON Schema of an object', index)
      else taken.set(name, { name, description, parameters: schema })
    }
  }
  return [...taken.values()]
}

function tooLarge(index: number): ServerError {
  const detail = `The schemas of a request's tools have at most ${MAX_CHARS} characters and ${MAX_VALUES} values. Send fewer or smaller tools.`
  return new ServerError('invalid_request', 'The schemas of the tools are too large.', {
    problems: [{ pointer: `/tools/${index}`, detail }],
  })
}

function schemaIn(parameters: unknown, budget: SchemaBudget, unenforced: (what: string) => void): JsonSchema | null {
  if (parameters === undefined || parameters === null) return { type: 'object', properties: {} }
  if (typeof parameters !== 'object' || Array.isArray(parameters)) return null
  if (longTextProblems(parameters, []).length > 0) return null
  const schema: JsonSchema = { type: 'object', ...parameters }
  if (schema.type !== 'object') return null
  try {
    for (const warning of createJsonCheck(schema, { budget, foreignPatterns: true }).warnings) unenforced(warning)
    return schema
  } catch (error) {
    if (error instanceof ServerError) return null
    throw error
  }
}
