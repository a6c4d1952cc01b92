import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Logger } from '../../../domain/logger.ts'
import type { Effect } from '../../../domain/tool-settings.ts'
import type { ToolCallRequest, ToolOutcome } from '../../tool.ts'
import { answerOutcome } from './answer-outcome.ts'
import type { ServiceHttp, ServiceRequest } from './service-http.ts'

export interface HttpToolDeps {
  http: ServiceHttp
  clock: Clock
  log: Logger
}

const HEADERS = {
  accept: 'application/json, text/*;q=0.9, */*;q=0.5',
  'accept-encoding': 'gzip, br',
  'user-agent': 'quarterdeck',
}

/** One call of a service for a tool. An answer of any status is an outcome; no answer at all is a throw. */
export async function callService(
  { http, clock }: Pick<HttpToolDeps, 'http' | 'clock'>,
  tool: { name: string; effect: Effect },
  call: ToolCallRequest,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const begun = clock.mono()
  // Its lines have the ids of the run and of the call.
  const { log } = call.voice
  // Paths and queries hold arguments, and those are content.
  const fields = () => ({
    host: request.url.host,
    duration_ms: Math.round(clock.mono() - begun),
  })
  // The id of a call that is repeated stays the same, so a service that knows this header does the work once.
  const key = tool.effect === 'idempotent' ? { 'idempotency-key': encodeURIComponent(call.callId.toWellFormed()) } : {}
  try {
    const answer = await http.send({ ...request, headers: { ...HEADERS, ...key, ...request.headers } }, signal)
    log.debug('a service answered a tool', { ...fields(), status: answer.status })
    return answerOutcome(answer)
  } catch (error) {
    log.warn('a service did not answer a tool', { ...fields(), ...reasonOf(error) })
    throw error
  }
}

function reasonOf(error: unknown): { reason: unknown; code: unknown } {
  const cause = error instanceof ServerError ? error.cause : error
  return {
    reason: error instanceof ServerError ? error.details.reason : 'unknown',
    code: cause instanceof Error && 'code' in cause ? cause.code : undefined,
  }
}
