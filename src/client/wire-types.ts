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
  /** Since when no call of the agent waits for the answer; null: one waits, or the agent was told to ask again. */
  nobody_waits_since: string | null
  /** With the kind `diff`: what it does to which file. */
  change: Change | null
  /** An operator has changed what the agent proposed. */
  edited: boolean
  /** How many people have to say yes. After a yes that is not enough, the approval is still `pending`. */
  quorum: number
  /** Where several people have to say yes: the yeses so far. */
  decisions: { by: string; at: string; channel: string }[]
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
  /** From what the agent proposed to what an operator made of it, with marks. */
  edit_diff?: string | null
  /** With `include: ['content']`: the whole text after the change. Null: the change deletes the file. */
  content?: string | null
  /** What would run, for the person who decides. */
  shown: ShownCall
}

/** Everything that would run, with secrets masked and every hidden character marked. */
export interface ShownCall {
  arguments: ShownArgument[]
  /** What a person may overlook. One sentence each. */
  warnings: string[]
}

export interface ShownArgument {
  /** With marks, as in `text`. */
  name: string
  text: string
  /** The value is no text: `text` is its JSON over several lines. */
  json: boolean
  /** Something in it is masked: see `reveal`. */
  secret: boolean
  /** How many hidden characters it has. */
  hidden: number
  /** Size of the whole text, without marks. */
  bytes: number
  /** Set if `text` is only the beginning. The hash is of the whole text, without marks. */
  cut: { shown_bytes: number; sha256: string } | null
}

/** What would come of an edit. */
export interface EditCheck {
  ok: boolean
  problems: string[]
  risk: Approval['risk']
  shown: ShownCall
  /** The arguments that differ. Null: there is none of this name. */
  changes: { name: string; before: string | null; after: string | null }[]
  /** What the tool itself shows about the edit. */
  preview: string | null
  /** With `content`. */
  change: {
    digest: string
    added_lines: number
    removed_lines: number
    /** From the file to the edit. */
    shown_diff: string
    /** From what the agent proposed to the edit. Empty: they are the same. */
    edit_diff: string
  } | null
}

/** What the person had on their screen when they decided. It goes into the audit trail. */
export interface LookedAt {
  whole: boolean
  /** Bytes that were shown of a value, and of how many. */
  not_seen?: { name: string; shown: number; total: number }[]
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

export interface ProgressItem {
  label: string
  status: 'done' | 'in_progress' | 'pending'
}

/** The session of an agent elsewhere. */
export interface Supervision {
  session_id: string
  owner_user_id: string
  workspace_root: string
  status: 'created' | 'active' | 'paused' | 'terminated' | 'interrupted'
  host: string
  mode: 'remote' | 'local' | 'hybrid'
  title: string | null
  prompt: string | null
  channel_id: string | null
  created_at: string
  /** When the agent last called, reported or was answered. */
  updated_at: string
  terminated_at: string | null
  last_tool: string | null
  nudge_count: number
  stall_paused: boolean
  /** False: alerts and nudges of this session are switched off. */
  stalls_enabled: boolean
  progress_snapshot: ProgressItem[] | null
  restored_from: string | null
  pid: number | null
  /** How the process of the agent last crashed, with its last lines of stderr. */
  crash: string | null
}

/** What every record of an agent elsewhere has. */
interface SupervisedRecord {
  session_id: string
  owner: string
  host: string
  created_at: string
  decided_at: string | null
  decided_by: string | null
  decided_channel: string | null
  /** Since when no call of the agent waits for the answer; null: one waits, or the agent was told to ask again. */
  nobody_waits_since: string | null
  message_refs: Record<string, string>
}

/** A question that an agent forwards to its operator. */
export interface Prompt extends SupervisedRecord {
  prompt_id: string
  status: 'pending' | 'decided' | 'interrupted'
  prompt_text: string
  prompt_type: 'continuation' | 'clarification' | 'error_recovery' | 'resource_warning'
  elapsed_seconds: number | null
  actions_taken: number | null
  expires_at: string | null
  decision: 'continue' | 'refine' | 'stop' | null
  instruction: string | null
  reason: string | null
}

/** An agent that stands by for an instruction. */
export interface Standby extends SupervisedRecord {
  wait_id: string
  status: 'waiting' | 'resumed' | 'timeout' | 'interrupted'
  message: string
  timeout_seconds: number
  expires_at: string | null
  instruction: string | null
}

/** An agent that has gone silent. */
export interface Alert extends SupervisedRecord {
  alert_id: string
  status: 'pending' | 'nudged' | 'self_recovered' | 'escalated' | 'dismissed'
  last_tool: string | null
  last_activity_at: string
  idle_seconds: number
  nudge_count: number
  nudge_message: string | null
  last_nudge_at: string | null
  nudged_by: string | null
  progress_snapshot: ProgressItem[] | null
}

/** A text for an agent. It goes out with the results of its calls. */
export interface Instruction {
  id: string
  kind: 'steering' | 'task'
  session_id: string | null
  text: string
  source: string
  created_at: string
  delivered_at: string | null
}

export interface Checkpoint {
  checkpoint_id: string
  session_id: string
  owner: string
  label: string | null
  workspace_root: string
  files: number
  bytes: number
  has_contents: boolean
  session_state: {
    status: Supervision['status']
    mode: Supervision['mode']
    title: string | null
    last_tool: string | null
  }
  progress_snapshot: ProgressItem[] | null
  created_at: string
}

export interface ShownCheckpoint extends Checkpoint {
  /** SHA-256 by path, up to 1,000 files. */
  file_hashes: Record<string, string>
  /** For `after`. Null: these were the last. */
  next_file: string | null
}

/** What differs between a checkpoint and its workspace now. */
export interface CheckpointChanges {
  checkpoint_id: string
  counts: { modified: number; deleted: number; added: number; unknown: number }
  /** Up to 1,000, in the order of their paths. */
  files: {
    path: string
    change: 'modified' | 'deleted' | 'added'
    bytes_then: number | null
    bytes_now: number | null
  }[]
  /** Could not be read now or at the checkpoint. */
  unknown: string[]
}

/** What has become of one file since a checkpoint. */
export interface CheckpointFileDiff {
  path: string
  /** `same`: at most its mode differs. */
  change: 'modified' | 'deleted' | 'added' | 'same'
  /** Null: `why_not` says why. */
  diff: string | null
  /** For people: every hidden character is marked, as `<U+202E>`. */
  shown_diff: string | null
  added_lines: number
  removed_lines: number
  why_not: string | null
}

export interface Restored {
  session: Supervision
  written: number
  removed: number
  not_restored: { path: string; reason: string }[]
  /** Restore it to undo the restore. */
  undo: Checkpoint
}

export interface CommandResult {
  alias: string
  ended: 'exit' | 'timeout' | 'stopped' | 'not_started'
  exit_code: number | null
  signal: string | null
  duration_ms: number
  output: string
  dropped_bytes: number
  problem: string | null
}

/** Something that waits or waited for a person. */
export type InboxItem = {
  id: string
  session_id: string
  owner: string
  agent: string
  /** What it is about, in one line. */
  title: string
  status: string
  /** Of an approval. */
  risk: Approval['risk'] | null
  tool: string | null
  host: string | null
  session_title: string | null
  created_at: string
  expires_at: string | null
  decided_at: string | null
  decided_by: string | null
  decided_channel: string | null
} & (
  | { kind: 'approval'; approval: Approval }
  | { kind: 'prompt'; prompt: Prompt }
  | { kind: 'wait'; wait: Standby }
  | { kind: 'alert'; alert: Alert }
)

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
