import type { Logger } from '../domain/logger.ts'

/** A language model. Every provider is one implementation of this port; a fault is a `ServerError` with a `model_*` code. */
export interface Model {
  readonly provider: string
  readonly name: string
  /**
   * Streams one answer. Each array holds the parts that arrived together (one read of the socket), so that a fast model
   * costs few awaits; parts come in the order the model produced them and the last one is `finish`. An empty array says that the
   * model's server is alive, though it has nothing to say yet.
   * Every call that was started is ended, and its arguments are never empty: a call without any has `{}`.
   * Throws on any failure, also when the stream ends without a finish. After an abort it ends soon, by return or throw,
   * and the upstream connection is closed. `details.retryable` of a failure says whether asking again may help.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<readonly ModelPart[]>
  /** Cheap proof that the model can be reached with this key; throws like `stream`. */
  check(signal: AbortSignal): Promise<void>
}

export interface ModelRequest {
  system: string
  messages: readonly ModelMessage[]
  tools: readonly ModelTool[]
  /** JSON Schema the final answer must satisfy, or null. */
  responseFormat: Record<string, unknown> | null
  /** Stable for one session; providers may use it for caching or abuse tracking. */
  sessionId: string
  /** What becomes of this request is logged here, with the ids of the run that it is for. Left out: in the log of the server. */
  log?: Logger
}

export type ModelMessage =
  | {
      role: 'user'
      content: string
      /** What is shown to the model as it is. Only kinds that its settings say it takes. */
      attachments?: readonly ModelAttachment[]
    }
  | {
      role: 'assistant'
      content: string
      toolCalls: readonly ModelToolCall[]
      /**
       * What the model thought before it: all its text, and the last signature of the answer, unchanged. A signature is
       * worth keeping without any text too: some providers hide what was thought and send only the proof.
       */
      reasoning?: { text: string; signature?: string }
    }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError: boolean }

/** A file that the model reads by itself. The message's text names it, for not every provider passes on a name. */
export interface ModelAttachment {
  /** A document is a PDF. */
  type: 'image' | 'document'
  mimeType: string
  /** Base64. */
  data: string
  name: string
  /** About how many tokens it costs. */
  tokens: number
}

interface ModelToolCall {
  id: string
  name: string
  /** JSON text as the model wrote it. */
  arguments: string
  /** Opaque provider data that must go back with the call, unchanged (Gemini's thought signature). */
  signature?: string
}

export interface ModelTool {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export type ModelPart =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  /**
   * Ends a block of reasoning; opaque, to be sent back. Each one stands for all reasoning of the answer so far, so keeping
   * the last is enough. It names the provider that made it: any other provider's model leaves it out of its request.
   */
  | { type: 'reasoning_signature'; signature: string }
  | { type: 'tool_call_start'; id: string; name: string; signature?: string }
  | { type: 'tool_call_args'; id: string; delta: string }
  | { type: 'tool_call_end'; id: string }
  /** Running totals of this answer; the last one counts. */
  | { type: 'usage'; usage: ModelUsage }
  | { type: 'finish'; reason: FinishReason }

/** A refusal and a content filter are not reasons but failures: `model_refused`. */
export type FinishReason = 'stop' | 'tool_calls' | 'length'

/** AG-UI's way of counting: input includes what was cached, output includes reasoning; the rest breaks these two down. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  reasoningTokens?: number
  cachedInputTokens?: number
  cacheWriteInputTokens?: number
}
