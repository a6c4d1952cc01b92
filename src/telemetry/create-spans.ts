// Spans of OpenTelemetry for what the server does. Names and attributes of requests follow the semantic conventions for HTTP and MCP.

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'
import { present } from '../domain/present.ts'
import type {
  AgentSpan,
  McpSpan,
  RequestSpan,
  RunStarted,
  RunTrace,
  Telemetry,
  TraceContext,
  TracedRun,
} from '../domain/telemetry.ts'
import { agentAttributes, createAgentSpans, fail } from './agent-spans.ts'
import type { ContentRules } from './content.ts'
import { readTrace, runSpanContext, runSpanId, traceIdOf, writeTrace } from './trace-context.ts'

interface SpansOptions {
  tracer: Tracer
  ids: RunIds
  /** Null: spans carry no content. */
  content: ContentRules | null
}

/** The id generator of the tracer. The spans of runs have ids of their own. */
export interface RunIds extends IdGenerator {
  /** The span that `start` begins gets this id, and the trace too if it begins with that span. */
  forRun<T>(ids: { spanId: string; traceId: string }, start: () => T): T
}

export function createRunIds(random: IdGenerator): RunIds {
  let wanted: { spanId: string; traceId: string } | null = null
  return {
    generateSpanId: () => wanted?.spanId ?? random.generateSpanId(),
    generateTraceId: () => wanted?.traceId ?? random.generateTraceId(),
    forRun(ids, start) {
      wanted = ids
      try {
        return start()
      } finally {
        wanted = null
      }
    },
  }
}

export function createSpans({ tracer, ids, content }: SpansOptions): Telemetry {
  const agentSpan = createAgentSpans(tracer, content)
  /** The request or call that is being answered, for whoever takes a run meanwhile. */
  const current = new AsyncLocalStorage<Span>()

  function request(method: string, route: string, headers: Parameters<Telemetry['request']>[2]): RequestSpan {
    const caller = readTrace(headers.traceparent, headers.tracestate)
    const span = tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': route } },
      under(caller),
    )
    return {
      trace: writeTrace(span.spanContext()),
      within: (work) => current.run(span, work),
      end({ status, isCut }) {
        span.setAttribute('http.response.status_code', status)
        if (isCut) span.setAttribute('quarterdeck.cut', true)
        // A refused request is the caller's mistake, and no error of this server.
        if (status >= 500) fail(span, String(status))
        span.end()
      },
    }
  }

  function mcpCall(tool: string, meta: Readonly<Record<string, unknown>>): McpSpan {
    const within = current.getStore()?.spanContext()
    const caller = readTrace(meta.traceparent, meta.tracestate)
    const span = tracer.startSpan(
      `tools/call ${tool}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          'mcp.method.name': 'tools/call',
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
        },
        links: caller === null || within === undefined ? [] : [{ context: within }],
      },
      under(caller ?? within ?? null),
    )
    return {
      within: (work) => current.run(span, work),
      end({ isError }) {
        if (isError) fail(span, 'tool_error')
        span.end()
      },
    }
  }

  function traceFor(runId: string, before: TracedRun | null): RunTrace | undefined {
    const cause = current.getStore()?.spanContext()
    if (before !== null) {
      const links = [runSpanContext(before, before.fence), ...(cause === undefined ? [] : [cause])]
      const parent = before.input.trace?.parent
      return present({ id: traceIdOf(before), parent, links: links.map((link) => writeTrace(link).traceparent) })
    }
    if (cause !== undefined) return { id: cause.traceId, parent: writeTrace(cause) }
    return { id: traceIdOf({ id: runId, input: {} }) }
  }

  function run({ run: record, lastFence, ...started }: RunStarted): AgentSpan {
    const { id, fence, sessionId, origin, input } = record
    const parent = readTrace(input.trace?.parent?.traceparent, input.trace?.parent?.tracestate)
    const links: Link[] = (input.trace?.links ?? []).flatMap((one) => {
      const context = readTrace(one, undefined)
      return context === null ? [] : [{ context }]
    })
    if (lastFence !== null) {
      links.push({ context: runSpanContext(record, lastFence), attributes: { 'quarterdeck.link': 'taken_over_from' } })
    }
    const attributes = {
      ...agentAttributes(started),
      'gen_ai.conversation.id': sessionId,
      'quarterdeck.run.id': id,
      'quarterdeck.run.origin': origin,
    }
    const span = ids.forRun({ spanId: runSpanId(id, fence), traceId: traceIdOf(record) }, () =>
      tracer.startSpan(`invoke_agent ${started.agent}`, { attributes, links }, under(parent)),
    )
    return agentSpan(span)
  }

  return {
    request,
    mcpCall,
    traceFor,
    run,
    contextOf: (record): TraceContext | undefined =>
      record.fence === 0 ? undefined : writeTrace(runSpanContext(record, record.fence)),
  }
}

const under = (parent: SpanContext | null): Context =>
  parent === null ? ROOT_CONTEXT : traceApi.setSpanContext(ROOT_CONTEXT, parent)
