// A tool as configured: what agent.yaml says about it once its paths are resolved and its defaults filled in. `config/` makes it.

import type { ApprovalRule } from './approval-rule.ts'

/** May a call be started again when a crash hid its outcome? `once`: never. */
export type Effect = 'read' | 'idempotent' | 'once'

export const risks = ['low', 'high', 'critical'] as const
export type Risk = (typeof risks)[number]

export const isAtLeast = (risk: Risk, bar: Risk): boolean => risks.indexOf(risk) >= risks.indexOf(bar)

export type JsonSchema = Record<string, unknown>

/** What a client may show of the shared state while the model still writes the arguments of the call that will set it. */
export interface PredictState {
  stateKey: string
  /** Null: all arguments as one object. */
  toolArgument: string | null
}

/** What every tool has, of whatever kind. */
export interface ToolRules {
  effect: Effect
  risk: Risk
  timeoutMs: number
  /** Further tries after a failure; 0 where the effect is `once`. */
  retries: number
  /** Null: as the agent says for all. */
  approval: ApprovalRule | null
  predictState: PredictState[]
}

interface NamedTool extends ToolRules {
  name: string
  description: string
  parameters: JsonSchema
  /** What it gives back, or null when nothing is said. */
  returns: JsonSchema | null
}

/**
 * What approvals are bound to of settings that may hold secrets: plain data, as the file says it, with the names of secrets in
 * the place of their values. Left out: the values themselves, of settings that were made in code.
 */
type Bound = unknown

export type ToolSettings =
  | FunctionToolSettings
  | McpServerSettings
  | ClientToolSettings
  | HttpToolSettings
  | OpenApiToolSettings
  | AgentToolSettings
  | PromptToolSettings

export type ToolType = ToolSettings['type']

/** An export of a module beside the file. What the file leaves out is read from the code. */
export interface FunctionToolSettings extends ToolRules {
  type: 'function'
  name: string
  description: string | null
  parameters: JsonSchema | null
  returns: JsonSchema | null
  /** Absolute path of the module. */
  file: string
  export: string
}

/** Which rules stand in the file. The others are defaults, and what is known of a single tool goes before a default. */
type Written = readonly ('effect' | 'risk')[]

/** One server, many tools. The rules hold for each of them unless `tools` says otherwise. */
export interface McpServerSettings extends ToolRules {
  type: 'mcp'
  /** The server's name; in front of its tools' names where they would clash. */
  name: string
  connection:
    | {
        kind: 'stdio'
        command: string
        args: string[]
        env: Record<string, string>
        directory: string
        /** The file names the directory; otherwise it is the agent's. */
        hasCwd?: true
      }
    | { kind: 'http'; url: string; headers: Record<string, string> }
  bound?: Bound
  /** Names or globs; null: all. */
  allow: string[] | null
  deny: string[]
  /** Put in front of every name. */
  prefix: string
  /** Believe the server's own readOnlyHint and idempotentHint. */
  trustHints: boolean
  /** Offer its resources and prompts as tools too. */
  resources: boolean
  prompts: boolean
  written: Written
  /** By the server's own name of the tool. */
  tools: Record<string, Partial<ToolRules>>
}

/** Runs at the caller. */
export interface ClientToolSettings extends NamedTool {
  type: 'client'
}

export interface HttpToolSettings extends NamedTool {
  type: 'http'
  method: string
  /** With `{argument}` where an argument goes; each is encoded for its place. */
  url: string
  headers: Record<string, string>
  /** A template: strings that are just `{argument}` become its value. Null: the arguments that the URL does not use. */
  body: unknown
  allowPrivate: boolean
  bound?: Bound
}

/** The operations of an OpenAPI file, one tool each. */
export interface OpenApiToolSettings extends ToolRules {
  type: 'openapi'
  name: string
  /** Absolute path of the document. */
  file: string
  /** Null: the document's first server. */
  baseUrl: string | null
  headers: Record<string, string>
  /** operationIds or globs; null: all. */
  allow: string[] | null
  deny: string[]
  allowPrivate: boolean
  bound?: Bound
  written: Written
}

/** Another agent: called like a tool, or handed the conversation. */
export interface AgentToolSettings extends ToolRules {
  type: 'agent'
  name: string
  /** Null: the agent's own. */
  description: string | null
  /** The name of an agent that is loaded beside this one. */
  agent: string
  handoff: boolean
}

/** A template that is one call of the agent's model. */
export interface PromptToolSettings extends NamedTool {
  type: 'prompt'
  template: string
}
