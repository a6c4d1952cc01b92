// Error codes for the descriptions of routes that start a run and wait for it.

import { type ErrorCode, modelErrors } from '../../../domain/errors.ts'

/** Errors of every POST that starts a run. */
export const startErrors = [
  'invalid_request',
  'malformed_json',
  'malformed_id',
  'unsupported_media_type',
  'body_too_large',
  'request_timeout',
  'agent_not_found',
  'session_not_found',
  'run_not_found',
  'events_gone',
  'run_in_progress',
  'approval_pending',
  'session_supervised',
  'idempotency_mismatch',
  'conflict',
  'queue_full',
  'too_many_runs',
  'too_many_sessions',
  'rate_limited',
  'storage_full',
  'storage_failed',
  'shutting_down',
] as const satisfies readonly ErrorCode[]

/** Additional errors of a POST that takes files. */
export const fileErrors = [
  'file_too_large',
  'too_many_files',
  'too_many_uploads',
  'file_unreadable',
  'file_not_found',
] as const satisfies readonly ErrorCode[]

/** Errors of a run that does not complete. A stream has them in its terminal event. */
export const runErrors = [
  'budget_exceeded',
  'interrupted',
  'needs_review',
  'cancelled',
  'tool_failed',
  'invalid_answer',
  ...modelErrors,
  'host_failed',
  'host_limit',
  'internal_error',
] as const satisfies readonly ErrorCode[]
