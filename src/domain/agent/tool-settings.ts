// The settings of a tool from agent.yaml, with paths resolved and defaults filled in. `config/` creates them.

import type { EmbeddingSettings } from './agent.ts'
import type { ApprovalRule } from './approval-rule.ts'

/** Whether a call may be repeated if a crash hid its outcome. `once`: never. */
export type Effect = 'read' | 'idempotent' | 'once'

export const risks = ['low', 'high', 'critical'] as const
export type Risk = (typeof risks)[number]

export const isAtLeast = (risk: Risk, bar: Risk): boolean => risks.indexOf(risk) >= risks.indexOf(bar)

export type JsonSchema = Record<string, unknown>

/** Shared state that a client may show early, while the model still writes the arguments of the call that will set it. */
export interface PredictState {
  stateKey: string
  /** The argument that becomes the value; null: all arguments as one object. */
  toolArgument: string | null
}

/** What tools of every kind have. */
export interface ToolRules {
  effect: Effect
  risk: Risk
  timeoutMs: number
  /** Further attempts after a failure; 0 if the effect is `once`. */
  retries: number
  /** Null: the agent's default rule decides. */
  approval: ApprovalRule | null
  predictState: PredictState[]
}

interface NamedTool extends ToolRules {
  name: string
  description: string
  parameters: JsonSchema
  /** Schema of the result; null if there is none. */
  returns: JsonSchema | null
}

/**
 * The part of the settings that an approval is bound to: plain data, as the file says it, with the names of secrets instead of
 * their values. Settings that were created in code leave it out; an approval is then bound to the values themselves.
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
  | KnowledgeToolSettings

export type ToolType = ToolSettings['type']

/** An export of a module. Null where the file leaves it to the code. */
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

/** The rules that the file sets. The others are defaults, and what is known about a single tool wins over a default. */
type Written = readonly ('effect' | 'risk')[]

/** A server that wants a person to sign in (OAuth). */
export interface McpAuthSettings {
  /** `server`: one sign-in for everybody. `user`: each user signs in for their own sessions. */
  per: 'server' | 'user'
  /** What the authorization server knows us as. Null: a document of ours, or we register. */
  clientId: string | null
  clientSecret: string | null
  /** Null: what the server asks for. */
  scope: string | null
  /** Whether the authorization server may have an address that is not public. */
  allowPrivate: boolean
}

/** One server with many tools. The rules apply to each of them, unless `tools` says otherwise. */
export interface McpServerSettings extends ToolRules {
  type: 'mcp'
  /** Name of the server. It is put before the names of its tools if they would clash with others. */
  name: string
  connection:
    | {
        kind: 'stdio'
        command: string
        args: string[]
        env: Record<string, string>
        directory: string
        /** The file sets the directory; otherwise it is the agent's. */
        hasCwd?: true
      }
    | { kind: 'http'; url: string; headers: Record<string, string>; auth?: McpAuthSettings }
  bound?: Bound
  /** Tool names or globs; null: all. */
  allow: string[] | null
  deny: string[]
  /** Put before the name of every tool. */
  prefix: string
  /** Trust the server's readOnlyHint and idempotentHint. */
  trustHints: boolean
  /** Whether the server's resources and prompts are offered as tools too. */
  resources: boolean
  prompts: boolean
  written: Written
  /** Rules for single tools, by the server's own name for the tool. */
  tools: Record<string, Partial<ToolRules>>
}

/** A tool that runs in the client. */
export interface ClientToolSettings extends NamedTool {
  type: 'client'
}

export interface HttpToolSettings extends NamedTool {
  type: 'http'
  method: string
  /** With `{argument}` in place of an argument, which is then percent-encoded. */
  url: string
  headers: Record<string, string>
  /** A template. A string that is only `{argument}` becomes its value. Null: the arguments that the URL does not use. */
  body: unknown
  allowPrivate: boolean
  bound?: Bound
}

/** An OpenAPI file; each operation becomes a tool. */
export interface OpenApiToolSettings extends ToolRules {
  type: 'openapi'
  name: string
  /** Absolute path of the document. */
  file: string
  /** Null: the first server in the document. */
  baseUrl: string | null
  headers: Record<string, string>
  /** Operation ids or globs; null: all. */
  allow: string[] | null
  deny: string[]
  allowPrivate: boolean
  bound?: Bound
  written: Written
}

/** Another agent, which is called like a tool or takes over the conversation. */
export interface AgentToolSettings extends ToolRules {
  type: 'agent'
  name: string
  /** Null: the other agent's own description. */
  description: string | null
  /** Name of another loaded agent. */
  agent: string
  handoff: boolean
}

/** A prompt template; a tool call is one call of the agent's model. */
export interface PromptToolSettings extends NamedTool {
  type: 'prompt'
  template: string
}

/** Documents that the agent searches and cites. */
export interface KnowledgeToolSettings extends ToolRules {
  type: 'knowledge'
  name: string
  /** Null: one that names the sources. */
  description: string | null
  /** As in the file: paths of folders and files, and globs, relative to `directory`. */
  sources: readonly string[]
  /** The agent's folder. */
  directory: string
  /** Sources are below these, wherever links lead: the agent's folder, and what the settings of the server name. Absolute. */
  folders: readonly string[]
  /** Lines as of a `.gitignore`. */
  ignore: readonly string[]
  /** Null: passages are found by their words alone. */
  embedding: EmbeddingSettings | null
}

/** True for the schema of `json_object`: any object will do. Providers have no schema for that, only a mode or words. */
export const isOpenObject = (schema: Readonly<Record<string, unknown>>): boolean =>
  schema.type === 'object' && Object.keys(schema).length === 1
