// What the server tells the tools that watch it, as a port. The default tells nothing and costs nothing. It is told of requests,
// runs, model calls and tool calls, never of single events: those are the hot path.

import type { TokenUsage } from './session/event.ts'

/** What another server needs to go on in the same trace: the headers of W3C Trace Context. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}

/** The trace that a run belongs to. It is stored with the run, so that whoever executes it later goes on in the same trace. */
export interface RunTrace {
  /** 32 hex digits. */
  id: string
  /** The span of the request that asked for the run; absent: no request did. */
  parent?: TraceContext
  /** Values of `traceparent`: the run that waited, and the request that brought the answer. */
  links?: readonly string[]
}

/** The part of a run's record that says where its spans are. */
export interface TracedRun {
  id: string
  fence: number
  input: { trace?: RunTrace | undefined }
}

export interface Telemetry {
  /** A request has come in. `headers` may name the caller's trace. */
  request(method: string, route: string, headers: Readonly<Record<string, string | string[] | undefined>>): RequestSpan
  /** Another program calls one of our tools by MCP. `meta` may name its trace. */
  mcpCall(tool: string, meta: Readonly<Record<string, unknown>>): McpSpan
  /** The trace for a new run: that of the run it continues (`before`), of the present request, or its own. Undefined: there is none. */
  traceFor(runId: string, before: TracedRun | null): RunTrace | undefined
  run(start: RunStarted): AgentSpan
  /** What others are told about a run that may have ended. */
  contextOf(run: TracedRun): TraceContext | undefined
}

export interface RequestSpan {
  /** Undefined: the request is not traced. */
  readonly trace: TraceContext | undefined
  /** Runs that are taken inside `work` belong to this request. */
  within<T>(work: () => T): T
  end(answer: { status: number; isCut: boolean }): void
}

export interface McpSpan {
  within<T>(work: () => T): T
  end(result: { isError: boolean }): void
}

export interface AgentStarted {
  agent: string
  description: string
  /** Of the model that it asks. */
  provider: string
  model: string
}

export interface RunStarted extends AgentStarted {
  run: TracedRun & { sessionId: string; origin: string }
  /** The fence under which it executed before. Null: it begins here. */
  lastFence: number | null
}

/** An agent at work: a run, or a sub-agent inside of one. */
export interface AgentSpan {
  readonly trace: TraceContext | undefined
  model(call: ModelCallStarted): ModelSpan
  tool(call: ToolCallStarted): ToolSpan
  /** Another agent works for this one. */
  subagent(start: AgentStarted): AgentSpan
  /** It waits for a person or a client from now on. */
  waits(wait: { id: string; tool: string; kind: string }): void
  /** Only the first call counts. */
  end(end: AgentEnded): void
}

export interface AgentEnded {
  outcome: string
  usage?: readonly TokenUsage[]
  /** An error code. Null: it did not fail. */
  error?: string | null
}

export interface ModelCallStarted {
  agent: string
  provider: string
  model: string
  /** Content. It is looked at only if the settings allow it. */
  request: { system: string; messages: readonly TracedMessage[] }
}

export interface TracedMessage {
  role: string
  content: string
  toolCalls?: readonly { id: string; name: string; arguments: string }[]
  toolCallId?: string
}

export interface ModelSpan {
  readonly trace: TraceContext | undefined
  /** The model has begun to answer. Only the first call counts. */
  began(): void
  end(end: ModelCallEnded): void
}

export interface ModelCallEnded {
  usage: ModelTokens | null
  /** Null: it did not finish. */
  finish: string | null
  /** An error code. Null: it did not fail. */
  error: string | null
  /** Content. It is asked for only if the settings allow it. */
  answer(): { text: string; calls: readonly { id: string; name: string; arguments: string }[] }
}

export interface ModelTokens {
  inputTokens: number
  outputTokens: number
  reasoningTokens?: number
  cachedInputTokens?: number
  cacheWriteInputTokens?: number
}

export interface ToolCallStarted {
  tool: string
  description: string
  callId: string
  /** Content. */
  arguments: Record<string, unknown>
}

export interface ToolSpan {
  readonly trace: TraceContext | undefined
  end(end: ToolCallEnded): void
}

export interface ToolCallEnded {
  outcome: 'completed' | 'failed' | 'stopped' | 'suspended'
  /** Content. */
  result: string
}

const noRequest: RequestSpan = { trace: undefined, within: (work) => work(), end() {} }
const noMcpCall: McpSpan = { within: (work) => work(), end() {} }
const noModelCall: ModelSpan = { trace: undefined, began() {}, end() {} }
const noToolCall: ToolSpan = { trace: undefined, end() {} }
const noAgent: AgentSpan = {
  trace: undefined,
  model: () => noModelCall,
  tool: () => noToolCall,
  subagent: () => noAgent,
  waits() {},
  end() {},
}

export const noTelemetry: Telemetry = {
  request: () => noRequest,
  mcpCall: () => noMcpCall,
  traceFor: () => undefined,
  run: () => noAgent,
  contextOf: () => undefined,
}

/** Fields for log lines, so that a line leads to its trace and back. */
export function traceFields(trace: TraceContext | undefined): { trace_id: string; span_id: string } | null {
  if (trace === undefined) return null
  const [, id = '', span = ''] = trace.traceparent.split('-')
  return { trace_id: id, span_id: span }
}

/** The same as headers of a request, or as fields of MCP's `_meta`. */
export const traceHeaders = (trace: TraceContext | undefined): Readonly<Record<string, string>> =>
  trace === undefined ? NONE : { ...trace }

const NONE: Readonly<Record<string, string>> = {}

/** One metric with all its series, as it is at one moment. `/metrics` shows it as text, OpenTelemetry gets it as numbers. */
export interface MetricFamily {
  /** Names with dots are those of OpenTelemetry. */
  name: string
  help: string
  /** A unit of OpenTelemetry, such as `s`. Empty: it has none, or its name says it. */
  unit: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly MetricSample[]
}

export interface MetricSample {
  labels: Readonly<Record<string, string>>
  value: number | HistogramValue
}

export interface HistogramValue {
  /** Upper bounds in ascending order, without infinity. */
  bounds: readonly number[]
  /** How many values are at most as large as each bound. */
  counts: readonly number[]
  sum: number
  count: number
}

/** Our names of providers in the words of OpenTelemetry. Others are used as they are. */
const NAMES = new Map([
  ['google', 'gcp.gemini'],
  ['gemini', 'gcp.gemini'],
  ['azure', 'azure.ai.openai'],
  ['azure_openai', 'azure.ai.openai'],
])

export const providerName = (provider: string): string => NAMES.get(provider) ?? provider
