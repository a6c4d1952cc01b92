import { problemShapeWith, runFailuresAs } from '../shared/answer/answer-failure.ts'

/**
 * These routes answer 422 for an invalid request, 503 when the model cannot be reached or may answer later, and 500 for every other
 * failure of a run. All other statuses are the usual ones.
 */
export const chatErrorShape = problemShapeWith({
  ...runFailuresAs(500),
  invalid_request: 422,
  malformed_id: 422,
  model_unreachable: 503,
  model_rate_limited: 503,
  model_timeout: 503,
  model_stream_dropped: 503,
  model_failed: 503,
})
