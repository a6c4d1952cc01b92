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

/** A way to reach operators. */
export interface Channel {
  /** Its kind, and whom or what it reaches: `slack:C012AB3CD`, `push:ada` or `webhook:pager`. */
  name: string
  /** What people call channels of its kind, such as Slack. */
  title: string
  surface: 'local' | 'remote'
  /** False: it reaches nobody yet, such as Web Push before a browser has subscribed. */
  set_up: boolean
  /** Items that wait to be shown. */
  waiting: number
  /** Items that it could not show one by one, and has not summed up yet. */
  missed: number
  last_shown_at: string | null
  /** Why nobody is reached there just now; null: it works. */
  trouble: string | null
}

/** A browser that takes push messages for you. */
export interface PushSubscription {
  subscription_id: string
  label: string | null
  /** Host of the push service. */
  service: string
  created_at: string
}

/** What `pushManager.subscribe` gives, as `toJSON` of it. */
export interface BrowserPushSubscription {
  endpoint: string
  keys: { p256dh: string; auth: string }
}
