import type { RunEvent } from 'quarterdeck/client'
import type { LogEvent } from './live-types.ts'

/** An event of a page of the log, as the stream brings it too. */
export const toLogEvent = ({ seq, at, event }: { seq: number; at: string | null; event: RunEvent }): LogEvent => ({
  seq,
  at: at === null ? (event.timestamp ?? null) : Date.parse(at),
  event,
})
