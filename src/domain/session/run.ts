import type { JsonSchema } from '../agent/tool-settings.ts'
import type { RunTrace } from '../telemetry.ts'
import type { TokenUsage } from './event.ts'
import type { StoredMessage } from './message.ts'

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted'

export const isFinished = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'interrupted'

/** It ended with an error. */
export const hasFailed = (status: RunStatus): boolean => status === 'failed' || status === 'interrupted'

/** What started a run. It decides whether the run stops when its last reader disconnects. */
export type RunOrigin = 'reader' | 'background' | 'recovery' | 'answer'

/** In the place of a message id: before the first message. */
export const START = ''

/** Everything the engine needs to execute a run, even after a restart. Stored with the run. */
export interface RunInput {
  /** Messages that this run adds to the history: new user messages, tool results. Ids are unique in the session. */
  messages: NewMessage[]
  /** System and developer text, for this run only. */
  instructions: string[]
  /** Untrusted context, for this run only. */
  context: { description: string; value: string }[]
  /** What the agent is told of what it keeps about the user, for this run only. */
  memories?: string
  /** Tools that the client sends along and runs itself. */
  clientTools: { name: string; description: string; parameters: JsonSchema }[]
  /**
   * How the client can send the result of a client tool: not at all; with its next request; or while the stream of this request
   * stays open, within the tool's timeout. With `none`, the client tools of the agent file are not offered.
   */
  clientAnswers?: 'none' | 'next_request' | 'in_stream'
  /** The client only knows the client tools that it sends; those of the agent file are not offered. */
  onlyBroughtTools?: boolean
  /** The run may not end before it has called one of `clientTools`. */
  mustCall?: true
  /** JSON Schema for the answer of this run, instead of the agent's own. */
  responseFormat?: JsonSchema | undefined
  /** `provider/model` that this run tries in the place of its agent's own. */
  model?: string
  /** Passed to tools, never to the model. */
  forwardedProps?: unknown
  /** Shared state from the client; undefined keeps the stored state. */
  state?: unknown
  /** The session's id as the request spelled it. RUN_STARTED repeats it. */
  wireThreadId?: string
  /** Digest of the conversation up to the answer of this run, if its client names no session and sends it whole. */
  conversation?: string
  /** Id of the request that started the run, for the run's log lines. */
  correlationId?: string | undefined
  trace?: RunTrace | undefined
  /**
   * Id of the message to branch after: everything after it is superseded. Without new messages, it is a user message that gets a
   * new answer. With new messages, it is the last message before the one that the user edited, or `START` if that was the first.
   */
  regenerateAfter?: string | undefined
  /** Nobody said what the run does while the session is busy: it stops the run before it if that one has lost its readers. */
  stopsUnread?: true | undefined
}

export type NewMessage = Pick<
  StoredMessage,
  'id' | 'role' | 'content' | 'toolCalls' | 'toolCallId' | 'error' | 'metadata' | 'lane'
>

export interface RunError {
  code: string
  message: string
  /** The model's server will refuse the same request again, whatever the code alone says. */
  isFinal?: true | undefined
}

// The messages of these errors quote the model, and content is not logged.
const OWN_WORDS: Readonly<Record<string, string>> = {
  model_refused: 'The model declined to answer.',
  invalid_answer: 'The answer does not fit the response format, also at the second try.',
}

/** Why a run or a model call failed, for the log: without anything that a person or a model said. */
export const loggedReason = ({ code, message }: RunError): { code: string; reason: string } => ({
  code,
  reason: OWN_WORDS[code] ?? message,
})

/** Tokens of all models together. */
export const tokensOf = ({ usage }: Pick<RunRecord, 'usage'>): number =>
  usage.reduce(
    (sum, { totalTokens, inputTokens, outputTokens }) =>
      sum + (totalTokens === undefined ? tokenCount(inputTokens) + tokenCount(outputTokens) : tokenCount(totalTokens)),
    0,
  )

/** Beyond it a count is a mistake, and sums of such counts would not fit. */
const MOST_TOKENS = 1e12

/** A provider may send anything, and one wrong count must not stop a run from ending. */
export const tokenCount = (value: number | null | undefined): number =>
  typeof value === 'number' && value > 0 ? Math.round(Math.min(value, MOST_TOKENS)) : 0

export interface RunRecord {
  /** Our own id (UUIDv7). */
  id: string
  sessionId: string
  owner: string
  agent: string
  /** The id on the wire: the client's own id if it sent one, otherwise `id`. Unique within the session. */
  wireId: string
  parentRunId: string | null
  status: RunStatus
  origin: RunOrigin
  input: RunInput
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  usage: TokenUsage[]
  error: RunError | null
  cancelRequested: boolean
  /** Sequence numbers of RUN_STARTED and of the last entry; null until they exist. */
  firstSeq: number | null
  lastSeq: number | null
  /** Counts the processes that have claimed the run. Every write carries the fence of its claim. */
  fence: number
  /** The process that executes the run. */
  leaseOwner: string | null
}

/** A run for lists, without its input: an input can be as large as a request. */
export type RunSummary = Omit<RunRecord, 'input'>
