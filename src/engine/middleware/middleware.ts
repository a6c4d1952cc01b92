import type { RunEvent } from '../../domain/event.ts'
import type { RunRecord } from '../../domain/run.ts'

/**
 * Sees every event before it is appended, and may change or drop it. So replayed events are the same as live ones. It must be
 * quick and must not throw. The first and the last event of a run cannot be dropped. If a TOOL_CALL_START is dropped, the call
 * never runs and leaves no other event.
 */
export interface Middleware {
  (event: RunEvent, scope: MiddlewareScope): RunEvent | null
  /** For text that leaves the server in another way, such as the spans of a trace. Left out: it changes no text. */
  redact?(text: string): string
}

export interface MiddlewareScope {
  sessionId: string
  runId: string
  agent: string
  /** Id of the request that started the run. */
  correlationId?: string
}

export const middlewareScope = ({ id, sessionId, agent, input }: RunRecord): MiddlewareScope => ({
  sessionId,
  runId: id,
  agent,
  ...(input.correlationId === undefined ? {} : { correlationId: input.correlationId }),
})

const NO_EVENT = 'A middleware did not return an event. Return the event or null. It cannot be async.'

/** One function for the whole chain. Null if the chain is empty, so that the hot path can skip it. */
export function chain(middleware: readonly Middleware[]): Middleware | null {
  if (middleware.length === 0) return null
  return (event, scope) => {
    let current: RunEvent | null = event
    for (const layer of middleware) {
      current = layer(current, scope)
      if (current === null) return null
      // A program in JavaScript may return a promise here, which no client could read.
      if (typeof current?.type !== 'string') throw new TypeError(NO_EVENT)
    }
    return current
  }
}
