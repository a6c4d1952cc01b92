import type { RunEvent } from '../../domain/event.ts'
import type { RunRecord } from '../../domain/run.ts'

/**
 * Sees every event before it is appended and may change or drop it, so that replay equals live. It must be quick and must
 * not throw. A run's first and terminal events cannot be dropped, and when a TOOL_CALL_START is dropped the call never runs
 * and leaves no other event.
 */
export type Middleware = (event: RunEvent, scope: MiddlewareScope) => RunEvent | null

export interface MiddlewareScope {
  sessionId: string
  runId: string
  agent: string
  /** Of the request that brought the run. */
  correlationId?: string
}

export const middlewareScope = ({ id, sessionId, agent, input }: RunRecord): MiddlewareScope => ({
  sessionId,
  runId: id,
  agent,
  ...(input.correlationId === undefined ? {} : { correlationId: input.correlationId }),
})

const NO_EVENT = 'A middleware gave back no event. Give back the event or null, and at once: it cannot be async.'

/** One function for the whole chain; null when there is nothing to do, so that the hot path can skip it. */
export function chain(middleware: readonly Middleware[]): Middleware | null {
  if (middleware.length === 0) return null
  return (event, scope) => {
    let current: RunEvent | null = event
    for (const layer of middleware) {
      current = layer(current, scope)
      if (current === null) return null
      // In a program without types it may be a promise, which no reader could make sense of.
      if (typeof current?.type !== 'string') throw new TypeError(NO_EVENT)
    }
    return current
  }
}
