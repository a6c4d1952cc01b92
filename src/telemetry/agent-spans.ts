// Spans of what happens inside a run: agents, models and tools. Their names and attributes follow the semantic conventions for generative
// AI (semantic-conventions-genai).

import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api'
import type { TokenUsage } from '../domain/session/event.ts'
import {
  type AgentEnded,
  type AgentSpan,
  type AgentStarted,
  type ModelCallStarted,
  type ModelSpan,
  type ModelTokens,
  providerName,
  type ToolCallStarted,
  type ToolSpan,
} from '../domain/telemetry.ts'
import { type ContentRules, shownAnswer, shownMessages, shownText } from './content.ts'
import { writeTrace } from './trace-context.ts'

const MAX_DESCRIPTION = 200

/** Null as `content`: spans carry no content. The returned function takes the span of an agent. */
export function createAgentSpans(tracer: Tracer, content: ContentRules | null): (span: Span) => AgentSpan {
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

  return agentSpan
}

/** The code alone: messages of failures may quote what a person or a model said. */
export function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

export const agentAttributes = ({ agent, description, provider, model }: AgentStarted): Attributes => ({
  'gen_ai.operation.name': 'invoke_agent',
  'gen_ai.agent.name': agent,
  'gen_ai.agent.description': description === '' ? undefined : description.slice(0, MAX_DESCRIPTION),
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
    'gen_ai.usage.reasoning.output_tokens': reasoningTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': cacheWriteInputTokens,
  }
}
