import type { JsonSchema } from '../../domain/agent/tool-settings.ts'
import type { ApprovalNeed } from '../tool.ts'
import type { OutputOf, StandardSchema } from './standard-schema.ts'
import type { ReviewContext, ToolContext } from './tool-context.ts'

interface Described {
  /** When and why to use it; the model reads this. A description in agent.yaml wins. */
  description?: string
  /** Schema of the result. */
  returns?: StandardSchema | JsonSchema
}

/** What a tool may say about a call before it runs, to the person who decides. */
interface Reviewed<Args> {
  /** A text or a diff that shows what the call will do. At most 20,000 characters are shown, and it has 5 s. */
  preview?(args: Args, context: ReviewContext): string | Promise<string>
  /**
   * Whether a person must allow this call. `true` always asks. `false` overrules only a question that is asked because of the tool's
   * risk. If it throws or takes longer than 5 s, a person is asked.
   */
  needsApproval?(args: Args, context: ReviewContext): boolean | ApprovalNeed | Promise<boolean | ApprovalNeed>
}

export interface SchemaTool<Schema extends StandardSchema> extends Described, Reviewed<OutputOf<Schema>> {
  parameters: Schema
  run(args: OutputOf<Schema>, context: ToolContext): unknown
}

export interface JsonSchemaTool extends Described, Reviewed<Record<string, unknown>> {
  parameters: JsonSchema & { '~standard'?: never }
  run(args: Record<string, unknown>, context: ToolContext): unknown
}

/** agent.yaml has its parameters. */
export interface PlainTool<Args> extends Described, Reviewed<Args> {
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
