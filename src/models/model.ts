import type { Logger } from '../domain/logger.ts'
import type { TraceContext } from '../domain/telemetry.ts'

/** A language model. Every provider implements this port. A failure is a `ServerError` with a `model_*` code. */
export interface Model {
  readonly provider: string
  readonly name: string
  /**
   * Streams one answer into `take`. Parts come in the order in which the model produced them, and the last one is `finish`.
   * Every call that starts also ends, and its arguments are never empty: a call without arguments has `{}`.
   * Resolves when everything was taken. Throws on any failure, even when the stream only ends without a finish, and throws what
   * `take` throws. After an abort it ends soon, by return or throw, and closes the connection. `details.retryable` of a failure says
   * whether the same request may succeed later.
   */
  stream(request: ModelRequest, signal: AbortSignal, take: TakeParts): Promise<void>
  /** Checks at little cost that the model can be reached with this key. Throws like `stream`. */
  check(signal: AbortSignal): Promise<void>
}

/**
 * Takes the parts that arrived together, in one read of the socket. An empty array says that the model's server is alive but has sent
 * no part yet. It is called within the read, because each promise between the two costs more than the parts. As long as the promise
 * that it returns is pending it is not called again, and reading stops when too much waits.
 */
export type TakeParts = (parts: readonly ModelPart[]) => Promise<unknown> | undefined

/** For models that are easier to write as a generator. */
export const streamOf =
  (generate: (request: ModelRequest, signal: AbortSignal) => AsyncIterable<readonly ModelPart[]>): Model['stream'] =>
  async (request, signal, take) => {
    for await (const parts of generate(request, signal)) await take(parts)
  }

export interface ModelRequest {
  system: string
  messages: readonly ModelMessage[]
  /**
   * What is only true for this step: the client's context, and notes of the server. It comes after everything else, so that all that
   * stands before it is the same in the next request, and the provider's cache can use it. Empty: nothing.
   */
  aside: string
  /** In a fixed order: a provider's cache begins with them. */
  tools: readonly ModelTool[]
  /** JSON Schema that the final answer must satisfy, or null. */
  responseFormat: Record<string, unknown> | null
  /** The same for all requests of a session. Providers may use it for caching or abuse tracking. */
  sessionId: string
  /** Log for this request, bound to the ids of its run. When it is left out, the server's log is used. */
  log?: Logger
  /** Sent to the model's server as headers, so that it can go on in the same trace. */
  trace?: TraceContext | undefined
}

export type ModelMessage =
  | {
      role: 'user'
      content: string
      /** Files that the model gets unchanged. Only kinds that the model's settings allow. */
      attachments?: readonly ModelAttachment[]
    }
  | {
      role: 'assistant'
      content: string
      toolCalls: readonly ModelToolCall[]
      /**
       * What the model thought before its answer: the whole text, and the last signature, unchanged. A signature may come without
       * text, because some providers hide the thoughts and send only the proof.
       */
      reasoning?: { text: string; signature?: string | undefined } | undefined
    }
  | { role: 'tool'; toolCallId: string; toolName: string; content: string; isError: boolean }

/** A file that the model reads itself. The message's text names it too, because not every provider passes the name on. */
export interface ModelAttachment {
  /** A `document` is a PDF. */
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
  /** JSON text, exactly as the model wrote it. */
  arguments: string
  /** Opaque data of the provider that must go back unchanged with the call (Gemini's thought signature). */
  signature?: string | undefined
}

/** All messages of a request, the aside as the user's last words. */
export const withAside = ({ messages, aside }: ModelRequest): readonly ModelMessage[] =>
  aside === '' ? messages : [...messages, { role: 'user', content: aside }]

export interface ModelTool {
  name: string
  description: string
  parameters: Record<string, unknown>
}

export type ModelPart =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  /**
   * Ends a block of reasoning. Opaque, to be sent back. Each one covers all reasoning of the answer so far, so keeping the last one
   * is enough. It names the provider that made it; models of other providers leave it out of their requests.
   */
  | { type: 'reasoning_signature'; signature: string }
  | { type: 'tool_call_start'; id: string; name: string; signature?: string | undefined }
  | { type: 'tool_call_args'; id: string; delta: string }
  | { type: 'tool_call_end'; id: string }
  /** Totals of this answer so far. The last one counts. */
  | { type: 'usage'; usage: ModelUsage }
  | { type: 'finish'; reason: FinishReason }

/** A refusal and a content filter are not finish reasons but failures: `model_refused`. */
export type FinishReason = 'stop' | 'tool_calls' | 'length'

/** Counted as AG-UI does: input includes cached tokens and output includes reasoning. The other fields break these two down. */
export interface ModelUsage {
  inputTokens: number
  outputTokens: number
  reasoningTokens?: number
  cachedInputTokens?: number
  cacheWriteInputTokens?: number
}

/** A count that the provider does not report stays absent. */
export function modelUsage(counts: { [Name in keyof ModelUsage]: ModelUsage[Name] | undefined }): ModelUsage {
  const { inputTokens = 0, outputTokens = 0, ...others } = counts
  const reported = Object.entries(others).filter(([, count]) => count !== undefined)
  return { inputTokens, outputTokens, ...Object.fromEntries(reported) }
}
