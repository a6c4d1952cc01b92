// What the agent routes and the routes of sessions and runs answer, as types. The names are those on the wire.

import type { RunEvent } from '../domain/event.ts'
import type { RunStatus } from '../domain/run.ts'

export interface TokensUsed {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** Up to 10 MB as base64, or the id of what was uploaded to `/files` (up to 50 MB). */
export type FileToSend = { content: string; mime_type: string; filename?: string } | { file_id: string }

export interface ChatAnswer {
  /** Names the answer, and its run: `run(message_id)`. */
  message_id: string
  /** All that the agent said; may be empty. */
  content: string
  /** Give it to the next message. */
  session_id: string
  tool_calls: { name: string; arguments: Record<string, unknown>; status: 'success' | 'error' }[]
  tokens_used: TokensUsed | null
  execution_time_ms: number
}

/** The events of `stream`, by their `event:` line. A failure is no event: it is thrown. */
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
    /** The run waits for a person and goes on after the answer. */
    status?: 'waiting'
    run_id?: string
    approval_ids?: string[]
  }
}

export type StreamEventType = keyof StreamEventData

/** `id` is a place to go on from: `events({ run: message_id }, { after: id })`. */
export type StreamEvent = {
  [T in StreamEventType]: { type: T; id: string | null } & StreamEventData[T]
}[StreamEventType]

/** An entry of a session's log: an AG-UI event, and its id. What was made for this reader alone (a snapshot) has none. */
export interface LoggedEvent {
  id: string | null
  event: RunEvent
}

export interface SentMessage {
  run_id: string
  message_id: string
}

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
