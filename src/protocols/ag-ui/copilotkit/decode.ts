import { ServerError } from '../../../domain/errors.ts'
import type { Request } from '../../../http/route.ts'
import { inputProblems } from '../../shared/request/input-problems.ts'
import { judge } from '../../shared/request/validate.ts'
import { type Call, CallSchema, StopSchema } from './schema.ts'

/** Which run a stop request means; null: whichever is active. The client sends no body for that. */
export async function decodeStop(request: Request): Promise<{ runId: string | null }> {
  const body = hasBody(request) ? await request.json() : undefined
  if (body === undefined) return { runId: null }
  const parsed = judge(StopSchema, body)
  if (!parsed.success) {
    const problems = inputProblems(parsed.issues, body)
    throw new ServerError('invalid_request', 'A stop request is empty or { "runId": … }.', { problems })
  }
  return { runId: parsed.data.runId ?? null }
}

const hasBody = (request: Request): boolean =>
  request.header('transfer-encoding') !== undefined || Number(request.header('content-length') ?? 0) > 0

/** What one request to the single route asks for. */
export function decodeCall(body: unknown): Call {
  const parsed = judge(CallSchema, body)
  if (parsed.success) return parsed.data
  throw new ServerError(
    'invalid_request',
    'This is no call of CopilotKit 1.50 or later. Send { "method", "params", "body" } with the method info, agent/run, ' +
      'agent/connect or agent/stop.',
    { problems: inputProblems(parsed.issues, body) },
  )
}
