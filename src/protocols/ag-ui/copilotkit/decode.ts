import { ServerError } from '../../../domain/errors.ts'
import type { Request } from '../../../http/route.ts'
import { inputProblems, validate } from '../../shared/request/validate.ts'
import { type Call, CallSchema, StopSchema } from './schema.ts'

/** The body of a stop request, which its client leaves out to stop whichever run is active. */
export const readStopBody = async (request: Request): Promise<unknown> =>
  request.header('transfer-encoding') !== undefined || Number(request.header('content-length') ?? 0) > 0
    ? request.json()
    : undefined

/** The id of the run to stop; null is whichever run is active. */
export function decodeStop(body: unknown): string | null {
  if (body === undefined) return null
  const parsed = validate(StopSchema, body)
  if (!parsed.success) {
    const problems = inputProblems(parsed.issues, body)
    throw new ServerError('invalid_request', 'Send a stop request without a body, or with { "runId": … }.', {
      problems,
    })
  }
  return parsed.data.runId ?? null
}

/** Decodes a request to the single route. */
export function decodeCall(body: unknown): Call {
  const parsed = validate(CallSchema, body)
  if (parsed.success) return parsed.data
  throw new ServerError(
    'invalid_request',
    'This is not a call of CopilotKit 1.50 or later. Send { "method", "params", "body" } with the method info, agent/run, ' +
      'agent/connect or agent/stop.',
    { problems: inputProblems(parsed.issues, body) },
  )
}
