// Types for the answers of the agent, session and run routes. Names are as on the wire.

import type { RunEvent } from './ag-ui-event.ts'

export interface TokensUsed {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** Up to 10 MB as base64, or an uploaded file of up to 50 MB. */
export type FileToSend = { content: string; mime_type: string; filename?: string } | { file_id: string }

export interface UploadedFile {
  /** For `files` of a message, and for `download`. */
  file_id: string
  /** The type, determined from the content. */
  mime_type: string
  bytes: number
  sha256: string
  name: string
}

export type ApprovalStatus = 'pending' | 'approved' | 'rejected' | 'answered' | 'expired' | 'interrupted' | 'consumed'

/** A tool call that waits or waited for a person, or a question that its tool asks. Times are ISO 8601. */
export interface Approval {
  approval_id: string
  status: ApprovalStatus
  /** `question`: the call has begun, and its tool asks a person something. Answer with `respond`. */
  kind: 'tool_call' | 'question' | 'diff' | 'permission' | 'policy'
  title: string
  description: string
  /** What the call will really do, in one line. */
  action: string | null
  /** What the tool itself shows: a text or a diff. */
  preview: string | null
  /** Set for the kind `question`. `schema` is the JSON Schema of the answer. */
  question: { message: string; schema: Record<string, unknown> } | null
  /** What a person gave: the answer to the question, or a text in the place of the tool's result. */
  response: unknown
  risk: 'low' | 'high' | 'critical'
  tool: string
  arguments: Record<string, unknown>
  edited_arguments: Record<string, unknown> | null
  agent: string
  session_id: string
  /** The run that waits for the decision. */
  run_id: string
  /** The run that continued after the decision. */
  continuation_run_id: string | null
  tool_call_id: string
  answerable_by: 'owner' | 'operator'
  /** Digest of the call, its arguments, the approval rules and the definition of the tool. */
  digest: string
  policy_version: string
  before_hash: string | null
  after_hash: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by: string | null
  /** The way the decision came: `http`, `ctl`, … */
  decided_channel: string | null
  reason: string | null
  consumed_at: string | null
  /** The host of an agent elsewhere, if one asked. */
  host: string | null
  /** With the kind `diff`: what it does to which file. */
  change: Change | null
  /** An operator has changed what the agent proposed. */
  edited: boolean
}

/** What a change by an agent elsewhere does to one file. */
export interface Change {
  file_path: string
  kind: 'create' | 'modify' | 'delete'
  added_lines: number
  removed_lines: number
  warnings: string[]
  protected_because: string | null
  has_hidden_text: boolean
  may_force: boolean
  applied_at: string | null
  not_applied: string | null
}

/** One approval, with the diff of a change. */
export interface ShownApproval extends Approval {
  /** With the kinds `diff` and `policy`. */
  diff?: string
  /** For people: every hidden character is marked, as `<U+202E>`. */
  shown_diff?: string
}

type Scalar = string | number | boolean | null

/** As in agent.yaml: a value, a list of values, a glob, or a comparison. */
export type GrantCondition =
  | Scalar
  | Scalar[]
  | { equals: Scalar }
  | { one_of: Scalar[] }
  | { matches: string }
  | { path: string }
  | { above: number }
  | { below: number }
  | { not: GrantCondition }

/** Decide about similar calls in the same way from now on. */
export interface Remembered {
  /** In this session (15 minutes), or in all sessions (until the grant is revoked). */
  remember?: 'session' | 'always'
  grant?: {
    /** Which calls are similar, by argument. Default: all arguments are equal. */
    where?: Record<string, GrantCondition>
    /** null: until the grant is revoked. */
    seconds?: number | null
  }
}

export interface Grant {
  grant_id: string
  agent: string
  tool: string
  effect: 'allow' | 'refuse'
  where: Record<string, unknown>
  session_id: string | null
  granted_by: string
  approval_id: string
  created_at: string
  expires_at: string | null
}

export interface ChatAnswer {
  /** Id of the answer and of its run: `run(message_id)`. */
  message_id: string
  /** Everything the agent said. May be empty. */
  content: string
  /** Pass it with the next message. */
  session_id: string
  tool_calls: { name: string; arguments: Record<string, unknown>; status: 'success' | 'error' }[]
  tokens_used: TokensUsed | null
  execution_time_ms: number
}

/** The events of `stream`, by their `event:` line. A failure is not an event: it is thrown. */
export interface StreamEventData {
  stream_start: { session_id: string; message_id: string }
  message_delta: { delta: string; message_id: string }
  tool_call_start: { tool_call_id: string; name: string; message_id: string }
  tool_call_args: { tool_call_id: string; args_delta: string }
  tool_call_end: { tool_call_id: string; status: 'success' | 'error' }
  stream_end: {
    message_id: string
    tokens_used: TokensUsed | null
    execution_time_ms: number
    /** The run waits for a person and continues after the decision. */
    status?: 'waiting'
    run_id?: string
    approval_ids?: string[]
  }
}

export type StreamEventType = keyof StreamEventData

/** Use `id` to continue from here: `events({ run: message_id }, { after: id })`. */
export type StreamEvent = {
  [T in StreamEventType]: { type: T; id: string | null } & StreamEventData[T]
}[StreamEventType]

/** An AG-UI event from the log of a session, and its id. An event that was made for this reader (a snapshot) has no id. */
export interface LoggedEvent {
  id: string | null
  event: RunEvent
}

export interface SentMessage {
  run_id: string
  message_id: string
}

export type RunStatus = 'queued' | 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled' | 'interrupted'

export interface Run {
  run_id: string
  session_id: string
  parent_run_id: string | null
  status: RunStatus
  created_at: string
  started_at: string | null
  finished_at: string | null
  usage: {
    provider?: string
    model?: string
    input_tokens?: number
    output_tokens?: number
    total_tokens?: number
    reasoning_tokens?: number
    cached_input_tokens?: number
    cache_write_input_tokens?: number
  }[]
  error: { code: string; message: string } | null
}
