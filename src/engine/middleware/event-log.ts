import type { Logger } from '../../domain/logger.ts'
import type { Middleware } from './middleware.ts'

/** Logs every event's type at debug level; what it says goes under `content`, which is dropped unless asked for. */
export function createEventLog(logger: Logger): Middleware {
  return (event, { sessionId, runId, correlationId }) => {
    logger.debug('event', {
      ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
      session_id: sessionId,
      run_id: runId,
      type: event.type,
      content: event,
    })
    return event
  }
}
