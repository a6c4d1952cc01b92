// What a reader is told when its stream ends and the log has no terminal event for it. Made for that reader: no id, not stored.

import { ServerError } from '../../../domain/errors.ts'
import type { RunEventOf } from '../../../domain/event.ts'
import type { Logger } from '../../../domain/logger.ts'
import { type EventId, formatEventId } from './event-id.ts'

/** The server stops; the run is suspended and goes on later. `path` shows the rest. */
export function suspensionEvent(path: string, seen: EventId, timestamp: number): RunEventOf<'RUN_ERROR'> {
  const header = seen.seq === 0 ? '' : ` with the header Last-Event-ID: ${formatEventId(seen)}`
  const message = `The server is stopping. The run goes on after its restart: read GET ${path}${header}.`
  return { type: 'RUN_ERROR', message, code: 'shutting_down', timestamp }
}

/** The stream broke. The text of an unexpected error stays in the log. */
export function failureEvent(error: unknown, timestamp: number, log: Logger): RunEventOf<'RUN_ERROR'> {
  if (error instanceof ServerError) return { type: 'RUN_ERROR', message: error.message, code: error.code, timestamp }
  log.error('a stream of events failed', { error })
  const message = 'The server failed to show the run. Its log has the reason under the correlation id.'
  return { type: 'RUN_ERROR', message, code: 'internal_error', timestamp }
}
