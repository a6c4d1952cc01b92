import { type ErrorCode, isErrorCode } from '../../domain/errors.ts'
import type { ErrorShape } from '../../http/problem.ts'
import { problemShapeWith, runFailuresAs } from '../shared/answer/answer-failure.ts'
import type { ErrorType } from './schema.ts'

const plain = problemShapeWith(runFailuresAs(500))

/** A problem that repeats its detail as `error` and `message`, where the clients of these routes look for it. */
export const threadErrorShape: ErrorShape = (problem) => {
  const shaped = plain(problem)
  const own = typeof shaped.body === 'object' ? shaped.body : {}
  return { ...shaped, body: { ...own, error: problem.detail, message: problem.detail } }
}

interface ErrorKind {
  type: ErrorType
  /** The same request may succeed later. */
  recoverable: boolean
}

const later = (type: ErrorType): ErrorKind => ({ type, recoverable: true })
const never = (type: ErrorType): ErrorKind => ({ type, recoverable: false })

/** `Record` makes a new code without a type a compile error. */
const kinds: Record<ErrorCode, ErrorKind> = {
  invalid_request: never('validation'),
  malformed_json: never('validation'),
  malformed_id: never('validation'),
  unsupported_media_type: never('validation'),
  not_acceptable: never('validation'),
  body_too_large: never('limit'),
  file_too_large: never('limit'),
  too_many_files: never('limit'),
  file_unreadable: never('validation'),
  path_violation: never('validation'),
  invalid_diff: never('validation'),
  header_too_large: never('limit'),
  request_timeout: later('timeout'),
  method_not_allowed: never('validation'),
  route_not_found: never('validation'),
  door_closed: never('validation'),
  route_moved: never('validation'),
  not_available_yet: never('validation'),
  unauthorized: never('validation'),
  forbidden: never('validation'),
  host_not_allowed: never('validation'),
  origin_not_allowed: never('validation'),
  passphrase_required: never('validation'),
  passphrase_wrong: never('validation'),
  code_invalid: never('validation'),
  passkey_required: never('validation'),
  agent_not_found: never('validation'),
  session_not_found: never('validation'),
  run_not_found: never('validation'),
  message_not_found: never('validation'),
  approval_not_found: never('validation'),
  grant_not_found: never('validation'),
  record_not_found: never('validation'),
  token_not_found: never('validation'),
  command_not_found: never('validation'),
  tool_call_not_found: never('validation'),
  file_not_found: never('validation'),
  events_gone: never('internal'),
  session_expired: never('validation'),
  approval_expired: never('validation'),
  tool_call_expired: never('timeout'),
  run_in_progress: later('limit'),
  approval_pending: later('limit'),
  approval_decided: never('validation'),
  approval_changed: never('validation'),
  tool_call_answered: never('validation'),
  session_supervised: never('validation'),
  session_paused: later('validation'),
  session_ended: never('validation'),
  record_decided: never('validation'),
  operator_unreachable: later('internal'),
  no_channel: never('validation'),
  not_approved: never('validation'),
  already_consumed: never('validation'),
  restore_unconfirmed: never('validation'),
  idempotency_mismatch: never('validation'),
  run_fenced: later('internal'),
  patch_conflict: later('validation'),
  conflict: later('internal'),
  queue_full: later('limit'),
  too_many_runs: later('limit'),
  too_many_sessions: later('limit'),
  too_many_uploads: later('limit'),
  quota_exceeded: later('limit'),
  limit: later('limit'),
  rate_limited: later('limit'),
  budget_exceeded: never('limit'),
  interrupted: later('shutdown'),
  needs_review: never('tool'),
  cancelled: later('cancelled'),
  tool_failed: later('tool'),
  tool_unavailable: later('tool'),
  invalid_answer: later('llm'),
  model_auth_failed: never('llm'),
  model_not_found: never('llm'),
  model_rate_limited: later('llm'),
  model_unreachable: later('llm'),
  model_timeout: later('timeout'),
  model_stream_dropped: later('llm'),
  model_refused: never('llm'),
  host_failed: later('llm'),
  host_limit: later('llm'),
  model_context_overflow: never('limit'),
  model_bad_request: never('llm'),
  model_failed: later('llm'),
  config_invalid: never('internal'),
  storage_full: later('internal'),
  storage_failed: later('internal'),
  data_dir_locked: later('internal'),
  data_dir_newer: never('internal'),
  data_dir_older: never('internal'),
  data_dir_damaged: never('internal'),
  identity_unavailable: later('shutdown'),
  shutting_down: later('shutdown'),
  not_ready: later('shutdown'),
  internal_error: never('internal'),
}

export const errorKind = (code: string): ErrorKind => (isErrorCode(code) ? kinds[code] : kinds.internal_error)
