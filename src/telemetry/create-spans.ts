// Spans of OpenTelemetry for what the server does. Names and attributes of agents, models and tools follow the semantic conventions
// for generative AI (semantic-conventions-genai), those of requests the conventions for HTTP and MCP.

import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api'
import type { IdGenerator } from '@opentelemetry/sdk-trace'
import type { TokenUsage } from '../domain/event.ts'
import { providerName } from '../domain/provider-name.ts'
import type {
  AgentEnded,
  AgentSpan,
  AgentStarted,
  McpSpan,
  ModelCallStarted,
  ModelSpan,
  ModelTokens,
  RequestSpan,
  RunStarted,
  RunTrace,
  Telemetry,
  ToolCallStarted,
  ToolSpan,
  TraceContext,
  TracedRun,
} from '../domain/telemetry.ts'
import { type ContentRules, shownAnswer, shownMessages, shownText } from './content.ts'
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
  /** The request or call that is being answered, for whoever takes a run meanwhile. */
  const present = new AsyncLocalStorage<Span>()

  function request(method: string, route: string, headers: Parameters<Telemetry['request']>[2]): RequestSpan {
    const caller = readTrace(headers.traceparent, headers.tracestate)
    const span = tracer.startSpan(
      `${method} ${route}`,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, 'http.route': route } },
      under(caller),
    )
    return {
      trace: writeTrace(span.spanContext()),
      within: (work) => present.run(span, work),
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
    const within = present.getStore()?.spanContext()
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
      within: (work) => present.run(span, work),
      end({ isError }) {
        if (isError) fail(span, 'tool_error')
        span.end()
      },
    }
  }

  function traceFor(runId: string, before: TracedRun | null): RunTrace | undefined {
    const cause = present.getStore()?.spanContext()
    if (before !== null) {
      const links = [runSpanContext(before, before.fence), ...(cause === undefined ? [] : [cause])]
      const parent = before.input.trace?.parent
      return {
        id: traceIdOf(before),
        ...(parent === undefined ? {} : { parent }),
        links: links.map((link) => writeTrace(link).traceparent),
      }
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

  function agentSpan(span: Span): AgentSpan {
    const inside = traceApi.setSpan(ROOT_CONTEXT, span)
    return {
      trace: writeTrace(span.spanContext()),
      model: (call) => modelSpan(call, inside),
      tool: (call) => toolSpan(call, inside),
      subagent: (start) =>
        agentSpan(tracer.startSpan(`invoke_agent ${start.agent}`, { attributes: agentAttributes(start) }, inside)),
      waits({ id, tool, kind }) {
        span.addEvent('quarterdeck.wait', {
          'quarterdeck.wait.id': id,
          'quarterdeck.wait.kind': kind,
          'gen_ai.tool.name': tool,
        })
      },
      end(end) {
        if (!span.isRecording()) return
        span.setAttributes(endAttributes(end))
        if (end.error !== undefined && end.error !== null) fail(span, end.error)
        span.end()
      },
    }
  }

  function modelSpan({ agent, provider, model, request }: ModelCallStarted, inside: Context): ModelSpan {
    const span = tracer.startSpan(
      `chat ${model}`,
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.provider.name': providerName(provider),
          'gen_ai.request.model': model,
          'gen_ai.agent.name': agent,
          'gen_ai.request.stream': true,
        },
      },
      inside,
    )
    if (content !== null && span.isRecording()) {
      span.setAttribute('gen_ai.input.messages', shownMessages(request.messages, content))
      if (request.system !== '') {
        const instructions = [{ type: 'text', content: shownText(request.system, content) }]
        span.setAttribute('gen_ai.system_instructions', JSON.stringify(instructions))
      }
    }
    const startedAt = performance.now()
    let hasBegun = false
    return {
      trace: writeTrace(span.spanContext()),
      began() {
        if (hasBegun) return
        hasBegun = true
        span.setAttribute('gen_ai.response.time_to_first_chunk', (performance.now() - startedAt) / 1_000)
      },
      end({ usage, finish, error, answer }) {
        if (!span.isRecording()) return
        if (usage !== null) span.setAttributes(usageAttributes(usage))
        if (finish !== null) span.setAttribute('gen_ai.response.finish_reasons', [finish])
        if (content !== null) {
          span.setAttribute('gen_ai.output.messages', shownAnswer(answer(), finish ?? 'error', content))
        }
        if (error !== null) fail(span, error)
        span.end()
      },
    }
  }

  function toolSpan({ tool, description, callId, arguments: args }: ToolCallStarted, inside: Context): ToolSpan {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': description.slice(0, MAX_DESCRIPTION),
    }
    const span = tracer.startSpan(`execute_tool ${tool}`, { attributes }, inside)
    if (content !== null && span.isRecording()) {
      span.setAttribute('gen_ai.tool.call.arguments', shownText(JSON.stringify(args), content))
    }
    return {
      trace: writeTrace(span.spanContext()),
      end({ outcome, result }) {
        if (!span.isRecording()) return
        span.setAttribute('quarterdeck.tool.outcome', outcome)
        if (content !== null) span.setAttribute('gen_ai.tool.call.result', shownText(result, content))
        if (outcome === 'failed') fail(span, 'tool_failed')
        span.end()
      },
    }
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

const MAX_DESCRIPTION = 200

const under = (parent: SpanContext | null): Context =>
  parent === null ? ROOT_CONTEXT : traceApi.setSpanContext(ROOT_CONTEXT, parent)

/** The code alone: messages of failures may quote what a person or a model said. */
function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

const agentAttributes = ({ agent, description, provider, model }: AgentStarted): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': agent,
  ...(description === '' ? {} : { 'gen_ai.agent.description': description.slice(0, MAX_DESCRIPTION) }),
  'gen_ai.provider.name': providerName(provider),
  'gen_ai.request.model': model,
})

const endAttributes = ({ outcome, usage = [] }: AgentEnded): Attributes => ({
  'quarterdeck.run.outcome': outcome,
  ...(usage.length === 0
    ? {}
    : {
        'gen_ai.usage.input_tokens': sum(usage, 'inputTokens'),
        'gen_ai.usage.output_tokens': sum(usage, 'outputTokens'),
      }),
})

const sum = (usage: readonly TokenUsage[], key: 'inputTokens' | 'outputTokens'): number =>
  usage.reduce((total, one) => total + (one[key] ?? 0), 0)

function usageAttributes(usage: ModelTokens): Attributes {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens, cacheWriteInputTokens } = usage
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    ...(reasoningTokens === undefined ? {} : { 'gen_ai.usage.reasoning.output_tokens': reasoningTokens }),
    ...(cachedInputTokens === undefined ? {} : { 'gen_ai.usage.cache_read.input_tokens': cachedInputTokens }),
    ...(cacheWriteInputTokens === undefined
      ? {}
      : { 'gen_ai.usage.cache_creation.input_tokens': cacheWriteInputTokens }),
  }
}
