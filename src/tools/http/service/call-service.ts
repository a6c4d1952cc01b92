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

/** Calls a service for a tool. An answer of any status is an outcome. Throws when there is no answer at all. */
export async function callService(
  { http, clock }: Pick<HttpToolDeps, 'http' | 'clock'>,
  tool: { name: string; effect: Effect },
  call: ToolCallRequest,
  request: ServiceRequest,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const begun = clock.mono()
  // The call's own logger adds the ids of the run and the call.
  const { log } = call.voice
  // Not the path and query: they hold arguments, which are content and stay out of the log.
  const fields = () => ({
    host: request.url.host,
    duration_ms: Math.round(clock.mono() - begun),
  })
  // A repeated call keeps its id, so a service that knows this header does the work only once.
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
