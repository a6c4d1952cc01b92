import type { ErrorShape } from '../../http/problem.ts'
import { problemShapeWith, type StatusOverrides } from '../shared/answer/answer-failure.ts'

/** These routes answer 500 for every failure of a run. */
const statuses: StatusOverrides = {
  model_unreachable: 500,
  model_rate_limited: 500,
  model_timeout: 500,
  model_stream_dropped: 500,
  model_failed: 500,
  model_auth_failed: 500,
  model_not_found: 500,
  model_refused: 500,
  model_context_overflow: 500,
  model_bad_request: 500,
  invalid_answer: 500,
  tool_failed: 500,
  budget_exceeded: 500,
}

const plain = problemShapeWith(statuses)

/** A problem that repeats its detail as `error` and `message`, where the clients of these routes look for it. */
export const threadErrorShape: ErrorShape = (problem) => {
  const shaped = plain(problem)
  const own = typeof shaped.body === 'object' ? shaped.body : {}
  return { ...shaped, body: { ...own, error: problem.detail, message: problem.detail } }
}
