// W3C Trace Context: the text in headers, and what OpenTelemetry makes of it. The text comes from strangers.

import { createHash } from 'node:crypto'
import { createTraceState, type SpanContext } from '@opentelemetry/api'
import { present } from '../domain/present.ts'
import type { TraceContext, TracedRun } from '../domain/telemetry.ts'

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** The specification asks everybody to pass on this much. */
const MAX_STATE = 512
const PRINTABLE = /^[\x20-\x7e]*$/
const SAMPLED = 1

/** Null for anything that is not a valid trace context. */
export function readTrace(traceparent: unknown, tracestate: unknown): SpanContext | null {
  if (typeof traceparent !== 'string') return null
  const [, version = '', traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(traceparent) ?? []
  if (version === '' || version === 'ff' || (version === '00' && more !== undefined)) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  const isKept = typeof tracestate === 'string' && tracestate.length <= MAX_STATE && PRINTABLE.test(tracestate)
  return {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & SAMPLED,
    isRemote: true,
    ...(isKept && tracestate.trim() !== '' ? { traceState: createTraceState(tracestate) } : {}),
  }
}

export function writeTrace({ traceId, spanId, traceFlags, traceState }: SpanContext): TraceContext {
  const flags = (traceFlags & SAMPLED).toString(16).padStart(2, '0')
  const tracestate = traceState?.serialize() ?? ''
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, ...(tracestate === '' ? {} : { tracestate }) }
}

/**
 * The span of a run has an id that follows from the run and its fence. So a process that takes the run over, or continues it, can
 * name the span before its own, although the process that made it may be dead.
 */
export const runSpanId = (runId: string, fence: number): string =>
  createHash('sha256').update(`${runId}:${fence}`).digest('hex').slice(0, 16)

/** The id of a run is 16 bytes, as is the id of a trace. */
export const traceIdOf = (run: Pick<TracedRun, 'id' | 'input'>): string =>
  run.input.trace?.id ?? run.id.replaceAll('-', '').toLowerCase()

/** The context of the span that the run had under this fence. */
export function runSpanContext(run: TracedRun, fence: number): SpanContext {
  const parent = run.input.trace?.parent
  const seen = readTrace(parent?.traceparent, parent?.tracestate)
  return present({
    traceId: traceIdOf(run),
    spanId: runSpanId(run.id, fence),
    // Without a caller's decision, whether it was kept is not known here. A link to a span that was not kept does no harm.
    traceFlags: seen?.traceFlags ?? SAMPLED,
    isRemote: true,
    traceState: seen?.traceState,
  })
}
