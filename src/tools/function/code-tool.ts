// A tool that an embedding program defines in code, with the rules that agent.yaml would have for `type: function`.

import type { Effect, JsonSchema, Risk } from '../../domain/agent/tool-settings.ts'
import { ServerError } from '../../domain/errors.ts'
import type { ServerTool } from '../tool.ts'
import { toolBinding } from '../tool-binding.ts'
import type { JsonSchemaTool, SchemaTool } from './define-tool.ts'
import { createFunctionCall, createReview } from './function-call.ts'
import { readCodeSchema } from './read-code-schema.ts'
import type { StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'
import type { ReviewContext, ToolContext } from './tool-context.ts'

export interface CodeToolRules {
  /** The name that the model calls it by: letters, digits, `_` and `-`. */
  name: string
  /** When and why to use it; the model reads this. */
  description: string
  /** Whether a call may run again when a crash hid its outcome. Default: `once`, never. */
  effect?: Effect
  /** What a wrong call may cost. Default: `low` where the effect is `read`, otherwise `high`. */
  risk?: Risk
  /** Whether a person is asked first. Default: what the agent's file says. */
  approval?: 'always' | 'never'
  /** Default: 30,000. */
  timeoutMs?: number
  /** Further tries after a failure. Not for tools whose effect is `once`. Default: 0. */
  retries?: number
  /** Names of the agents that have this tool. Default: all. */
  agents?: readonly string[]
  /**
   * Stands for what the tool does. An approval is bound to it: when it has changed, a call that waits is asked about again.
   * Default: the text of `run`, `preview` and `needsApproval`. That text does not contain what `run` calls elsewhere, so give a version of your own if that may change.
   */
  binding?: string
}

/** The arguments are checked against `parameters` before `run` gets them. */
export interface CodeTool extends CodeToolRules {
  parameters: StandardSchema | JsonSchema
  returns?: StandardSchema | JsonSchema
  run(args: never, context: ToolContext): unknown
  preview?(args: never, context: ReviewContext): unknown
  needsApproval?(args: never, context: ReviewContext): unknown
}

/** Returns the tool as it is. It gives the arguments of `run` the types of `parameters`. */
export function codeTool<Schema extends StandardSchema>(tool: CodeToolRules & SchemaTool<Schema>): CodeTool
export function codeTool(tool: CodeToolRules & JsonSchemaTool): CodeTool
export function codeTool(tool: CodeTool): CodeTool {
  return tool
}

const NAME = /^[\w-]{1,64}$/

/** Throws `config_invalid`. */
export function createCodeTool(tool: CodeTool, strays: StrayErrors): ServerTool {
  const { name, effect = 'once', approval, retries = 0 } = tool
  if (!NAME.test(name)) throw wrong(name, 'its name may have only letters, digits, _ and -, at most 64')
  if (retries > 0 && effect === 'once') {
    throw wrong(
      name,
      'retries need effect: "read" or "idempotent", because a call with effect "once" is never repeated',
    )
  }
  const parameters = schemaOf(tool, 'parameters')
  const run = (args: unknown, context: unknown) => Reflect.apply(tool.run, tool, [args, context])
  const reviewer = (key: 'preview' | 'needsApproval') => {
    const code = tool[key]
    return code === undefined
      ? undefined
      : (args: unknown, context: unknown) => Reflect.apply(code, tool, [args, context])
  }
  return {
    location: 'server',
    name,
    description: tool.description,
    parameters: parameters.json,
    returns: tool.returns === undefined ? null : schemaOf(tool, 'returns').json,
    effect,
    risk: tool.risk ?? (effect === 'read' ? 'low' : 'high'),
    timeoutMs: tool.timeoutMs ?? 30_000,
    retries,
    approval: approval === undefined ? null : { ask: approval },
    predictState: [],
    binding: toolBinding('code', { name, run: tool.binding ?? codeOf(tool) }),
    action: () => `runs the function of ${name}`,
    ...createReview({
      preview: reviewer('preview'),
      needsApproval: reviewer('needsApproval'),
      name,
      check: parameters.check,
      strays,
    }),
    call: createFunctionCall({ name, run, check: parameters.check, strays }),
  }
}

/** Without reviewers it is the text of `run` alone, as it was before there were any, so that earlier approvals stay valid. */
const codeOf = ({ run, preview, needsApproval }: CodeTool): string =>
  [run, preview, needsApproval].flatMap((code) => (code === undefined ? [] : [String(code)])).join('\n')

function schemaOf(tool: CodeTool, key: 'parameters' | 'returns'): { json: JsonSchema; check: StandardSchema | null } {
  const schema = readCodeSchema(tool[key], key === 'parameters' ? 'input' : 'output')
  if (schema.json === null) throw wrong(tool.name, `${key}: ${schema.problem} Write a zod schema or a JSON Schema`)
  if (key === 'parameters' && schema.json.type !== 'object') {
    throw wrong(tool.name, 'its parameters do not describe an object. Write e.g. z.object({ … })')
  }
  return schema
}

const wrong = (name: string, problem: string): ServerError =>
  new ServerError('config_invalid', `Tool ${name}: ${problem}.`)
