// All error codes. The core knows no HTTP status: `http/status.ts` maps the codes, `http/error-help.ts` says what they mean.

/** The model fails. */
export const modelErrors = [
  'model_auth_failed',
  'model_not_found',
  'model_rate_limited',
  'model_unreachable',
  'model_timeout',
  'model_stream_dropped',
  'model_refused',
  'model_context_overflow',
  'model_bad_request',
  'model_failed',
  'host_failed',
  'host_limit',
] as const

export const errorCodes = [
  // The request is wrong.
  'invalid_request',
  'malformed_json',
  'malformed_id',
  'unsupported_media_type',
  'not_acceptable',
  'body_too_large',
  'file_too_large',
  'too_many_files',
  'file_unreadable',
  'path_violation',
  'invalid_diff',
  'header_too_large',
  'request_timeout',
  'method_not_allowed',
  'route_not_found',
  'door_closed',
  'route_moved',
  'not_available_yet',
  // The caller is not allowed.
  'unauthorized',
  'forbidden',
  'host_not_allowed',
  'origin_not_allowed',
  'passphrase_required',
  'passphrase_wrong',
  'code_invalid',
  'passkey_required',
  // Something does not exist, or no longer.
  'agent_not_found',
  'session_not_found',
  'run_not_found',
  'message_not_found',
  'approval_not_found',
  'grant_not_found',
  'record_not_found',
  'token_not_found',
  'command_not_found',
  'tool_call_not_found',
  'file_not_found',
  'events_gone',
  'session_expired',
  'approval_expired',
  'tool_call_expired',
  // Conflicts with the current state.
  'run_in_progress',
  'approval_pending',
  'approval_decided',
  'approval_changed',
  'not_approved',
  'already_consumed',
  'tool_call_answered',
  'session_supervised',
  'session_paused',
  'session_ended',
  'record_decided',
  'operator_unreachable',
  'no_channel',
  'restore_unconfirmed',
  'idempotency_mismatch',
  'run_fenced',
  'patch_conflict',
  'conflict',
  // Too much at once.
  'queue_full',
  'too_many_runs',
  'too_many_sessions',
  'too_many_uploads',
  'quota_exceeded',
  'limit',
  'rate_limited',
  // A run ends without an answer.
  'budget_exceeded',
  'interrupted',
  'needs_review',
  'cancelled',
  'tool_failed',
  'tool_unavailable',
  'invalid_answer',
  ...modelErrors,
  // The server fails or is not ready.
  'config_invalid',
  'storage_full',
  'storage_failed',
  'data_dir_locked',
  'data_dir_newer',
  'data_dir_older',
  'data_dir_damaged',
  'identity_unavailable',
  'shutting_down',
  'not_ready',
  'internal_error',
] as const

export type ErrorCode = (typeof errorCodes)[number]

const known: ReadonlySet<string> = new Set(errorCodes)

export const isErrorCode = (code: string): code is ErrorCode => known.has(code)

/** More problems than this help nobody, and a hostile body can be wrong in 100,000 places. */
export const MAX_PROBLEMS = 20

/** One problem with an input: where (a JSON pointer or the name of a query parameter) and what. */
export interface InputProblem {
  pointer: string
  detail: string
}

/** A failure that the caller can act on. Anything else that is thrown is a bug. */
export class ServerError extends Error {
  readonly code: ErrorCode
  /** Facts for programs. They are safe to show to the caller. */
  readonly details: Readonly<Record<string, unknown>>
  readonly problems: readonly InputProblem[]

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Record<string, unknown>; problems?: InputProblem[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'ServerError'
    this.code = code
    this.details = options.details ?? {}
    this.problems = options.problems ?? []
  }
}

export const hasCode = (error: unknown, ...codes: readonly ErrorCode[]): error is ServerError =>
  error instanceof ServerError && codes.includes(error.code)

export const sessionNotFound = (id: string): ServerError =>
  new ServerError('session_not_found', `There is no session ${JSON.stringify(id)}.`, { details: { session_id: id } })

/** `known` says which there are. */
export const agentNotFound = (name: string | null, known = ''): ServerError =>
  new ServerError('agent_not_found', `There is no agent ${JSON.stringify(name)}.${known}`, { details: { agent: name } })

export const fileNotFound = (id: string): ServerError =>
  new ServerError('file_not_found', `There is no file ${JSON.stringify(id)}.`, { details: { file_id: id } })

export const messageNotFound = (id: string): ServerError =>
  new ServerError('message_not_found', `There is no answer ${JSON.stringify(id)}.`, { details: { message_id: id } })

export const noSuchApp = (id: string): ServerError =>
  new ServerError('message_not_found', 'This session shows no such app.', { details: { message_id: id } })

export const runNotFound = (id: string): ServerError =>
  new ServerError('run_not_found', `There is no run ${JSON.stringify(id)}.`, { details: { run_id: id } })
