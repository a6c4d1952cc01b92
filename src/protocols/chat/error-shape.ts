import { problemShapeWith } from '../shared/answer/answer-failure.ts'

/**
 * This family answers 422 to what is not valid, 503 when the model could not be reached or may answer later, and 500 to every
 * other failure inside a run. The rest is as everywhere.
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
