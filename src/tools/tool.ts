// The port for everything that an agent can call. Every kind of tool implements it.

import type { GivenAnswer, QuestionAnswer, ToolQuestion } from '../domain/agent/question.ts'
import type { JsonSchema, Risk, ToolRules } from '../domain/agent/tool-settings.ts'
import type { Passage } from '../domain/knowledge/passage.ts'
import type { Logger } from '../domain/logger.ts'
import type { TokenUsage } from '../domain/session/event.ts'
import type { Shown } from '../domain/session/source.ts'
import type { TraceContext } from '../domain/telemetry.ts'

export interface ToolDescription extends ToolRules {
  name: string
  description: string
  /** JSON Schema of the arguments. The engine validates them and fills in the defaults before it calls the tool. */
  parameters: JsonSchema
  /** JSON Schema of the result. Null when there is none. */
  returns: JsonSchema | null
  /** The folders that relative paths in its arguments may start from. Without them: the agent's folder. */
  roots?: readonly string[]
}

/** A tool that can be called, with the digest that approvals are bound to. */
export interface BoundTool extends ToolDescription {
  /** Digest of what the tool does (`tool-binding.ts`). An approval is bound to it, so it does not cover a tool that has changed. */
  binding: string
  /** What a call with these arguments will really do, for the person who decides: one line, without secrets. */
  action?: ((args: Record<string, unknown>) => string) | undefined
  /** A text or a diff for the person who decides. What it throws is shown in its place. */
  preview?: Review<string> | undefined
  /** Whether this call needs an approval. If it throws, a person is asked. */
  needsApproval?: Review<boolean | ApprovalNeed> | undefined
}

/** Looks at a call before it runs. */
export type Review<T> = (args: Record<string, unknown>, review: ReviewRequest, signal: AbortSignal) => Promise<T>

/** Why a tool wants a person to decide. */
export interface ApprovalNeed {
  risk?: Risk
  reason?: string
}

/** The call that a person may have to decide about. */
export interface ReviewRequest {
  sessionId: string
  owner: string
  agent: string
  log: Logger
}

export interface ServerTool extends BoundTool {
  location: 'server'
  /** What apps of its MCP server may do with it. */
  app?: ToolApp
  /** For a tool that finds passages. Of these, those that can still be cited. */
  passagesNow?: (ids: readonly string[]) => Promise<ReadonlyMap<string, Passage>>
  /** Runs one call. An exception becomes an error for the model, which sees the text only if it is a `ServerError`. */
  call(call: ToolCallRequest, signal: AbortSignal): Promise<ToolOutcome>
}

/** MCP Apps: a server brings pages that show what its tools found, and that may call its tools. */
export interface ToolApp {
  /** Name of the MCP server. */
  server: string
  /** The server's own name for the tool. Its apps use it. */
  tool: string
  /** Address of the page that shows what this tool found. Null: there is none. */
  resourceUri: string | null
  /** Whether the model is told about the tool. */
  forModel: boolean
  /** Whether apps may call it. */
  forApp: boolean
  /** Reads a page of the server, or something else that its apps need. */
  read(uri: string, signal: AbortSignal): Promise<unknown>
}

/** Runs at the client. The run waits, and the client's next message brings the result. */
export interface ClientTool extends BoundTool {
  location: 'client'
}

/** Another agent. The engine runs it inside the run that calls it. */
export interface AgentTool extends BoundTool {
  location: 'agent'
  agent: string
  /** Whether the other agent takes over the conversation and answers instead of the caller. */
  handoff: boolean
}

export type Tool = ServerTool | ClientTool | AgentTool

/** The tools of one agent. Servers behind it may come and go, so the tools may change between calls. */
export interface Toolbox {
  /** Starts the servers behind it in the background. The first call of `tools` starts them too. */
  start(): void
  /**
   * The tools by name, without those of servers that cannot be reached. Only the first call waits, for a short time. `user`: whose session
   * it is. Servers that each user signs in to are left out without one.
   */
  tools(signal: AbortSignal, user?: string): Promise<ReadonlyMap<string, Tool>>
  /** The servers behind it and their present state. */
  servers(user?: string): readonly ToolServer[]
  close(): Promise<void>
}

export interface ToolServer {
  name: string
  /** Why its tools are missing, for people. Null when they are there. */
  trouble: string | null
  /** A person has to sign in first. */
  needsSignIn?: boolean
  /** Names of the tools that it offered last. */
  tools: readonly string[]
}

export interface ToolCallRequest {
  /** Unique for this call. Stays the same when an idempotent call is repeated. */
  callId: string
  arguments: Record<string, unknown>
  sessionId: string
  runId: string
  owner: string
  agent: string
  forwardedProps: unknown
  /** How many characters of the result are kept. A tool need not produce more. */
  resultChars: number
  /** For whatever the tool calls, so that it can go on in the same trace. Without it the call is not traced. */
  trace?: TraceContext | undefined
  voice: ToolVoice
  /** For tools that find passages. */
  numbers: PassageNumbers
  /** The questions that this call has asked before, in order, with their answers. */
  answers: readonly GivenAnswer[]
  /**
   * Asks a person and waits for the answer. The call stays open, and its timeout stops meanwhile. For tools that cannot be
   * suspended; others end with `ToolOutcome.question`, so that nothing is held. Rejects when the signal aborts.
   */
  hold(question: ToolQuestion, signal: AbortSignal): Promise<QuestionAnswer>
}

/** The numbers under which a conversation knows passages. */
export interface PassageNumbers {
  /**
   * Gives passages numbers, which the model is shown and cites. A passage that was shown before keeps its number. `tool`: the one whose
   * `passagesNow` knows them.
   */
  give(tool: string, passages: readonly Passage[]): number[]
  /** What was shown under a number. */
  shown(number: number): Shown | null
}

/** For calls outside of a conversation. */
export const noNumbers: PassageNumbers = { give: (_, passages) => passages.map((_, i) => i + 1), shown: () => null }

/** What a tool can report while it works. Everything becomes events of the run. After the call has ended it is ignored. */
export interface ToolVoice {
  readonly log: Logger
  /** The present shared state of the session. */
  state(): unknown
  /** Replaces the shared state. Clients get the difference. */
  setState(next: unknown): void
  /** Sends clients a CUSTOM event. */
  emit(name: string, value: unknown): void
  /** Shows something beside the conversation. A second call with the same id replaces it. */
  activity(id: string, type: string, content: Record<string, unknown>): void
  /** Reports the progress of the call. */
  progress(done: number, total?: number, message?: string): void
}

export interface ToolOutcome {
  /** The tool needs this answer first. The run is suspended, and then the call is made again with the answer in `answers`. */
  question?: ToolQuestion
  content: string
  isError: boolean
  /** All that an MCP server answered, also what the model is not shown. For the server's apps. */
  whole?: Record<string, unknown>
  /** Whether `content` was cut, with an unknown rest. */
  isCut?: boolean
  /** For an error: a retry may help, so a tool that may be repeated is called again. Exceptions always count as this. */
  isPassing?: boolean
  /** Tokens of models that the tool called. They count as the run's. */
  usage?: TokenUsage[]
}
