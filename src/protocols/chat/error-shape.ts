import { problemShapeWith } from '../shared/answer/answer-failure.ts'

/**
 * These routes answer 422 for an invalid request, 503 when the model cannot be reached or may answer later, and 500 for every other
 * failure of a run. All other statuses are the usual ones.
 */
export const chatErrorShape = problemShapeWith({
  invalid_request: 422,
  malformed_id: 422,
  model_unreachable: 503,
  model_rate_limited: 503,
  model_timeout: 503,
  model_stream_dropped: 503,
  model_failed: 503,
  model_auth_failed: 500,
  model_not_found: 500,
  model_refused: 500,
  model_context_overflow: 500,
  model_bad_request: 500,
  invalid_answer: 500,
  tool_failed: 500,
  budget_exceeded: 500,
})
