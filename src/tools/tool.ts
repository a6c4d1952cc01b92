// What an agent can call. Every kind of tool is one implementation of this port.

import type { TokenUsage } from '../domain/event.ts'
import type { Logger } from '../domain/logger.ts'
import type { JsonSchema, ToolRules } from '../domain/tool-settings.ts'

export interface ToolDescription extends ToolRules {
  name: string
  description: string
  /** JSON Schema of the arguments. The engine has validated them before it calls, and filled in the defaults. */
  parameters: JsonSchema
  /** Of the result; null when nothing is said. */
  returns: JsonSchema | null
  /** The folders that its relative paths may begin in. Left out: the agent's. */
  roots?: readonly string[]
}

/** A tool that can be called, and what it is made of. */
export interface BoundTool extends ToolDescription {
  /** Names what it does (`tool-binding.ts`). A person's yes is bound to it: a tool that would do something else has another one. */
  binding: string
}

export interface ServerTool extends BoundTool {
  location: 'server'
  /** Runs one call. A throw becomes an error the model can read; only the text of a `ServerError` is shown to it. */
  call(call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome>
}

/** Runs at the caller: the run waits, the caller's next word brings the result. */
export interface ClientTool extends BoundTool {
  location: 'client'
}

/** Another agent: the engine itself runs it, inside the run that calls it. */
export interface AgentTool extends BoundTool {
  location: 'agent'
  agent: string
  /** The other agent is handed the conversation and answers in the caller's place. */
  handoff: boolean
}

export type Tool = ServerTool | ClientTool | AgentTool

/** The tools of one agent. Servers behind it come and go, and lists may change between calls. */
export interface Toolbox {
  /** Starts the servers behind it, in the background. Whoever asks for the tools first does the same. */
  start(): void
  /** By name. A server that cannot be reached is left out, with a warning in the log. Only the first call waits, and not for long. */
  tools(signal: AbortSignal): Promise<ReadonlyMap<string, Tool>>
  /** The servers behind it, as they are now. */
  servers(): readonly ToolServer[]
  close(): Promise<void>
}

export interface ToolServer {
  name: string
  /** Why its tools are missing, for people; null when they are there. */
  trouble: string | null
  /** Names of what it offered last. */
  tools: readonly string[]
}

export interface ToolCallRequest {
  /** Unique for this call and the same when an idempotent call is repeated. */
  callId: string
  arguments: Record<string, unknown>
  sessionId: string
  runId: string
  owner: string
  agent: string
  forwardedProps: unknown
  /** Characters of the result that are kept: a tool need not make more. */
  resultChars: number
  voice: ToolVoice
}

/** What a tool can say while it works. Everything becomes events of the run; after the call has ended it is not heard. */
export interface ToolVoice {
  readonly log: Logger
  /** The session's shared state as it is now. */
  state(): unknown
  /** Replaces it; clients are sent the difference. */
  setState(next: unknown): void
  /** A CUSTOM event. */
  emit(name: string, value: unknown): void
  /** Something to show beside the conversation; the same id again replaces it. */
  activity(id: string, type: string, content: Record<string, unknown>): void
  /** How far the call has come. */
  progress(done: number, total?: number, message?: string): void
}

export interface ToolOutcome {
  content: string
  isError: boolean
  /** There was more than the content, and nobody knows how much. */
  isCut?: boolean
  /** Of an error: asking again may help, so a tool that may be repeated is. A throw always counts as such. */
  isPassing?: boolean
  /** Tokens of models that the tool called; they count as the run's. */
  usage?: TokenUsage[]
}
