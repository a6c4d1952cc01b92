import type { TokenUsage } from './event.ts'
import type { StoredMessage } from './message.ts'
import type { JsonSchema } from './tool-settings.ts'

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted'

export const isFinished = (status: RunStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled' || status === 'interrupted'

/** Who started a run decides whether it stops when its last reader has gone. */
export type RunOrigin = 'reader' | 'background' | 'recovery' | 'answer'

/** A run's input: all the engine needs to execute it, also after a restart. Stored with the run. */
export interface RunInput {
  /** The messages this run adds to the history: new user messages, tool results. Ids are unique in the session. */
  messages: NewMessage[]
  /** System and developer text of this run only. */
  instructions: string[]
  /** Untrusted context of this run only. */
  context: { description: string; value: string }[]
  /** Tools that the caller brings and runs. */
  clientTools: { name: string; description: string; parameters: JsonSchema }[]
  /**
   * How the caller can answer a client tool, and so whether the agent file's own are offered: not at all; with its next
   * request; or while the stream of this one stays open, within the tool's timeout.
   */
  clientAnswers?: 'none' | 'next_request' | 'in_stream'
  /** The caller knows no client tools but those it brings: the agent file's own are not offered. */
  onlyBroughtTools?: boolean
  /** JSON Schema that the answer of this run must satisfy, in place of the agent's own. */
  responseFormat?: JsonSchema
  /** Reaches tools, never the model. */
  forwardedProps?: unknown
  /** Shared state sent by the client; undefined leaves the stored one. */
  state?: unknown
  /** The session's id as this request spelled it; RUN_STARTED repeats it. */
  wireThreadId?: string
  /** Of the request that brought it. The log lines of the run have it. */
  correlationId?: string
  /**
   * Branch here: what followed this message is superseded. Without new messages it is a user message, which is answered anew;
   * with them it is the last one before the message that the user has edited.
   */
  regenerateAfter?: string
}

export type NewMessage = Pick<
  StoredMessage,
  'id' | 'role' | 'content' | 'toolCalls' | 'toolCallId' | 'error' | 'metadata' | 'lane'
>

export interface RunError {
  code: string
  message: string
}

// Their texts hold what the model said, and that is not logged.
const OWN_WORDS: Readonly<Record<string, string>> = {
  model_refused: 'The model declined to answer.',
  invalid_answer: 'The answer does not fit the response format, also at the second try.',
}

/** Why something failed, for the log: without anything that a person or a model said. */
export const loggedReason = ({ code, message }: RunError): { code: string; reason: string } => ({
  code,
  reason: OWN_WORDS[code] ?? message,
})

export interface RunRecord {
  /** Our own id (UUIDv7). */
  id: string
  sessionId: string
  owner: string
  agent: string
  /** The id on the wire: the client's where it chose one, otherwise `id`. Unique within the session. */
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
  /** Seq of its RUN_STARTED and of its last entry; null until there is one. */
  firstSeq: number | null
  lastSeq: number | null
  /** Counts the owners it has had; every write of a run carries the fence it was claimed with. */
  fence: number
  /** The process that executes it. */
  leaseOwner: string | null
}

/** What a list needs of a run. Inputs are as large as requests may be. */
export type RunSummary = Omit<RunRecord, 'input'>
