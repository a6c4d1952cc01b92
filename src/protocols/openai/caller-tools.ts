// The tools in a request: functions that the caller runs. The two APIs only spell them differently.

import { z } from 'zod'
import { type InputProblem, ServerError } from '../../domain/errors.ts'
import type { RunInput } from '../../domain/session/run.ts'
import { type BroughtTool, decodeClientTools } from '../shared/request/client-tools.ts'

const functionShape = {
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish().describe('JSON Schema of an object.'),
}

const OtherToolSchema = z.object({ type: z.string() })

/** `{ type, function: { name, … } }`. */
export const ChatToolsSchema = z
  .array(z.union([z.object({ type: z.literal('function'), function: z.object(functionShape) }), OtherToolSchema]))
  .nullish()
  .describe('Functions that the caller runs. Do not list the tools of the agent: they run on the server.')

/** `{ type, name, … }`. */
export const ResponseToolsSchema = z
  .array(z.union([z.object({ type: z.literal('function'), ...functionShape }), OtherToolSchema]))
  .nullish()
  .describe('Functions that the caller runs. Do not list the tools of the agent: they run on the server.')

/** Chat completions have the name in `function`, responses beside the type. */
export const ToolChoiceSchema = z
  .union([
    z.enum(['auto', 'none', 'required']),
    z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) }),
    z.object({ type: z.literal('function'), name: z.string() }),
    z.object({ type: z.string() }),
  ])
  .nullish()
  .describe('`none` offers none of `tools`; `required` wants a call of one of them, or of the named one.')

/** So that a hostile body cannot fill the log. */
const MAX_WARNINGS = 10

export interface CallerTools {
  tools: RunInput['clientTools']
  choice: 'auto' | 'none' | 'required' | { type: 'function'; name: string }
  /** Parts of the schemas that are not enforced, for the log. */
  warnings: readonly string[]
}

type SentTool = NonNullable<z.infer<typeof ChatToolsSchema> | z.infer<typeof ResponseToolsSchema>>[number]

/** Throws `invalid_request` for a tool that cannot be offered, and for an unsupported `tool_choice`. */
export function decodeCallerTools(
  sent: readonly SentTool[] | null | undefined,
  choice: z.infer<typeof ToolChoiceSchema>,
): CallerTools {
  const problems: InputProblem[] = []
  const brought = (sent ?? []).map((tool, index): BroughtTool => {
    const own = functionOf(tool)
    if (own !== null) return { name: own.name, description: own.description ?? undefined, parameters: own.parameters }
    const detail = 'Send only tools with the type function and a name.'
    problems.push({ pointer: `/tools/${index}`, detail })
    // A placeholder, so that the other tools keep their positions.
    return { name: `unusable_${index}` }
  })
  const warnings: string[] = []
  const tools = decodeClientTools(
    brought,
    (why, index) => problems.push({ pointer: `/tools/${index}`, detail: why }),
    (what, index) => {
      if (warnings.length < MAX_WARNINGS) warnings.push(`${what} at /tools/${index}`)
    },
  )
  const chosen = chosenOf(choice)
  const isThere = typeof chosen === 'object' ? tools.some(({ name }) => name === chosen?.name) : tools.length > 0
  if (!isThere && chosen !== 'auto' && chosen !== 'none') {
    problems.push({ pointer: '/tool_choice', detail: 'Send auto, none, required, or the name of a function in tools.' })
  }
  if (problems.length > 0) throw new ServerError('invalid_request', 'The tools cannot be used as sent.', { problems })
  return { tools, choice: chosen ?? 'auto', warnings }
}

/** Null: a choice that no function can fit. */
function chosenOf(choice: z.infer<typeof ToolChoiceSchema>): CallerTools['choice'] | null {
  if (choice == null) return 'auto'
  if (typeof choice === 'string') return choice
  if ('function' in choice) return { type: 'function', name: choice.function.name }
  return 'name' in choice ? { type: 'function', name: choice.name } : null
}

/** What a run gets of them. A named tool is offered alone, so no other one can be called in its place. */
export function offeredTools({ tools, choice }: CallerTools): Pick<RunInput, 'clientTools' | 'mustCall'> {
  if (choice === 'none') return { clientTools: [] }
  if (choice === 'auto') return { clientTools: tools }
  if (choice === 'required') return { clientTools: tools, mustCall: true }
  return { clientTools: tools.filter(({ name }) => name === choice.name), mustCall: true }
}

function functionOf(tool: SentTool) {
  if ('function' in tool) return tool.function
  return 'name' in tool ? tool : null
}
