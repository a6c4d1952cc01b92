import type { Risk } from '../../domain/agent/tool-settings.ts'
import type { PromptType } from '../../domain/records/record.ts'
import type { McpConnection, OperationalMode } from '../../domain/supervision/supervision.ts'
import type { AgentIdentity } from '../sessions/supervised-sessions.ts'

/** One call of an agent elsewhere, as its door hands it over. */
export interface AgentCall {
  agent: AgentIdentity
  /** Aborts when the caller has gone. That decides nothing. */
  signal: AbortSignal
  /** After this many ms the answer must be on its way, be it `pending`: the host would give up soon after. */
  limitMs: number
  /** False while the call's stream is cut off and its client has not come back for it, which ends no call. True by default. */
  isRead?: () => boolean
  /** Tells the host that the call is alive. */
  progress(message: string): void
  /** If the client keeps something to resume with. */
  resumable?: ResumableCall
}

/** A call whose client can come back for the answer after a restart of the server. */
export interface ResumableCall<Answer = AgentAnswer> {
  connection: McpConnection
  /** The answer as the client gets it, and the stream that it goes to. Null: nobody could ask for it. */
  messageOf(answer: Answer): { stream: string; message: object } | null
}

/** What the agent is told. `answer` is JSON; errors have `status: "error"`, `error_code` and `error_message`. */
export interface AgentAnswer {
  isError: boolean
  answer: Record<string, unknown>
}

/** What agents call, by the names of the tools. */
export interface ToolInputs {
  ask_approval: {
    title?: string
    diff?: string
    file_path?: string
    description?: string
    risk_level?: Risk
    request_id?: string
  }
  accept_diff: { request_id: string; force?: boolean }
  approve_tool: { tool_name: string; input: Record<string, unknown>; tool_use_id?: string }
  check_auto_approve: {
    tool_name: string
    context?: { file_path?: string; risk_level?: Risk; command?: string }
  }
  forward_prompt: {
    prompt_text?: string
    prompt_type?: PromptType
    elapsed_seconds?: number
    actions_taken?: number
    prompt_id?: string
  }
  remote_log: { message: string; level?: 'info' | 'success' | 'warning' | 'error'; thread_ts?: string }
  recover_state: { session_id?: string }
  set_operational_mode: { mode: OperationalMode }
  wait_for_instruction: { message?: string; timeout_seconds?: number; wait_id?: string }
  /** The snapshot is checked by the service: a bad one is an error, and a sign of life all the same. */
  heartbeat: { status_message?: string; progress_snapshot?: unknown }
}

export type ToolName = keyof ToolInputs

const named: Readonly<Record<ToolName, true>> = {
  ask_approval: true,
  accept_diff: true,
  approve_tool: true,
  check_auto_approve: true,
  forward_prompt: true,
  remote_log: true,
  recover_state: true,
  set_operational_mode: true,
  wait_for_instruction: true,
  heartbeat: true,
}
/** All of them can only ask and report. */
export const toolNames: ReadonlySet<string> = new Set(Object.keys(named))

/**
 * The service where agents elsewhere report and ask. An agent's credential can only do what is here, and nothing here decides. Never
 * rejects: what goes wrong is an answer that the model understands.
 */
export type AgentService = { [Tool in ToolName]: (call: AgentCall, input: ToolInputs[Tool]) => Promise<AgentAnswer> }

/** The reason of a call's signal when the server stops: the caller has not gone, and will ask again. */
export const SERVER_STOPS = 'the server stops'
