// A tool that a program gives in code: what `type: function` is in agent.yaml, with its rules beside it.

import { ServerError } from '../../domain/errors.ts'
import type { Effect, JsonSchema, Risk } from '../../domain/tool-settings.ts'
import type { ServerTool } from '../tool.ts'
import { toolBinding } from '../tool-binding.ts'
import type { JsonSchemaTool, SchemaTool } from './define-tool.ts'
import { createFunctionCall } from './function-call.ts'
import { readCodeSchema } from './parameter-schema.ts'
import type { StandardSchema } from './standard-schema.ts'
import type { StrayErrors } from './stray-errors.ts'
import type { ToolContext } from './tool-context.ts'

export interface CodeToolRules {
  /** What the model calls it by: letters, digits, `_` and `-`. */
  name: string
  /** When and why to use it; the model reads this. */
  description: string
  /** May a call be started again when a crash hid its outcome? Default: `once`, never. */
  effect?: Effect
  /** What a wrong call may cost. Default: `low` where the effect is `read`, otherwise `high`. */
  risk?: Risk
  /** Whether a person is asked first. Default: as the agent's file says. */
  approval?: 'always' | 'never'
  /** Default: 30,000. */
  timeoutMs?: number
  /** Further tries after a failure; not where the effect is `once`. Default: 0. */
  retries?: number
  /** Names of the agents that have it. Default: all. */
  agents?: readonly string[]
  /**
   * Names what the tool does. A person's yes is bound to it: a call that waits for approval is asked about again when it has changed.
   * Default: the text of `run`. That does not show what `run` calls elsewhere, so give a version of your own where that may change.
   */
  binding?: string
}

/** Its arguments have been checked against `parameters` when `run` gets them. */
export interface CodeTool extends CodeToolRules {
  parameters: StandardSchema | JsonSchema
  returns?: StandardSchema | JsonSchema
  run(args: never, context: ToolContext): unknown
}

/** Gives back what it is given. It is there so that the arguments of `run` have the types of `parameters`. */
export function codeTool<Schema extends StandardSchema>(tool: CodeToolRules & SchemaTool<Schema>): CodeTool
export function codeTool(tool: CodeToolRules & JsonSchemaTool): CodeTool
export function codeTool(tool: CodeTool): CodeTool {
  return tool
}

const NAME = /^[\w-]{1,64}$/

/** Throws `config_invalid`. */
export function createCodeTool(tool: CodeTool, strays: StrayErrors): ServerTool {
  const { name, effect = 'once', approval, retries = 0 } = tool
  if (!NAME.test(name)) throw wrong(name, 'its name may have letters, digits, _ and -, 64 at most')
  if (retries > 0 && effect === 'once') {
    throw wrong(name, 'retries need effect: "read" or "idempotent": a call that counts is not repeated')
  }
  const parameters = schemaOf(tool, 'parameters')
  const run = (args: unknown, context: unknown) => Reflect.apply(tool.run, tool, [args, context])
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
    binding: toolBinding('code', { name, run: tool.binding ?? String(tool.run) }),
    call: createFunctionCall({ name, run, order: null, check: parameters.check, strays }),
  }
}

function schemaOf(tool: CodeTool, key: 'parameters' | 'returns'): { json: JsonSchema; check: StandardSchema | null } {
  const { json, problem, check } = readCodeSchema(tool[key], key === 'parameters' ? 'input' : 'output')
  if (json === null) throw wrong(tool.name, `${key}: ${problem}. Write a zod schema or JSON Schema`)
  if (key === 'parameters' && json.type !== 'object') {
    throw wrong(tool.name, 'its parameters are not those of an object. Write e.g. z.object({ … })')
  }
  return { json, check }
}

const wrong = (name: string, problem: string): ServerError =>
  new ServerError('config_invalid', `Tool ${name}: ${problem}.`)
