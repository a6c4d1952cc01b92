import type { JsonSchema } from '../../domain/tool-settings.ts'
import type { OutputOf, StandardSchema } from './standard-schema.ts'
import type { ToolContext } from './tool-context.ts'

interface Described {
  /** When and why to use it; the model reads this. A description in agent.yaml wins. */
  description?: string
  /** Schema of the result. */
  returns?: StandardSchema | JsonSchema
}

export interface SchemaTool<Schema extends StandardSchema> extends Described {
  parameters: Schema
  run(args: OutputOf<Schema>, context: ToolContext): unknown
}

export interface JsonSchemaTool extends Described {
  parameters: JsonSchema & { '~standard'?: never }
  run(args: Record<string, unknown>, context: ToolContext): unknown
}

/** agent.yaml has its parameters. */
export interface PlainTool<Args> extends Described {
  parameters?: never
  run(args: Args, context: ToolContext): unknown
}

/** Returns the tool as it is. It gives the arguments of `run` the types of `parameters`. */
export function defineTool<Schema extends StandardSchema>(tool: SchemaTool<Schema>): SchemaTool<Schema>
export function defineTool(tool: JsonSchemaTool): JsonSchemaTool
export function defineTool<Args>(tool: PlainTool<Args>): PlainTool<Args>
export function defineTool(tool: object): object {
  return tool
}
