import { problemShapeWith, type StatusOverrides } from '../shared/answer/answer-failure.ts'

/** These routes answer 502 for every failure of a model. */
export const statuses = { model_rate_limited: 502, model_unreachable: 502 } satisfies StatusOverrides

export const agentErrorShape = problemShapeWith(statuses)
