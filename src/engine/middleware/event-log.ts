import type { Logger } from '../../domain/logger.ts'
import type { Middleware } from './middleware.ts'

/** Logs the type of every event at debug level. The event itself is `content`, which the log drops unless it was asked for. */
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
