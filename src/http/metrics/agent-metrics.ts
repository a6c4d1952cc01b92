// How long agents, models and tools take, and what they use, under the names of the GenAI conventions of OpenTelemetry.

import type { Clock } from '../../domain/clock.ts'
import { type AgentSpan, type ModelCallStarted, providerName, type Telemetry } from '../../domain/telemetry.ts'
import type { Metrics } from './metrics.ts'

const CALL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const RUN_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6, 819.2]
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
const MODEL_LABELS = ['gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model']

type Measures = ReturnType<typeof registerMeasures>

function registerMeasures(metrics: Metrics) {
  const seconds = (name: string, help: string, labels: readonly string[], buckets = CALL_SECONDS) =>
    metrics.histogram(`gen_ai.${name}`, help, { unit: 's', buckets, labels })
  return {
    modelCall: seconds('client.operation.duration', 'Time of model calls.', [...MODEL_LABELS, 'error.type']),
    firstChunk: seconds('client.operation.time_to_first_chunk', 'Time until a model began to answer.', MODEL_LABELS),
    tokens: metrics.histogram('gen_ai.client.token.usage', 'Tokens of model calls.', {
      unit: '{token}',
      buckets: TOKENS,
      labels: [...MODEL_LABELS, 'gen_ai.token.type'],
    }),
    agent: seconds(
      'invoke_agent.duration',
      'Time of runs and of sub-agents.',
      ['gen_ai.agent.name', 'error.type'],
      RUN_SECONDS,
    ),
    tool: seconds('execute_tool.duration', 'Time of tool calls.', ['gen_ai.tool.name', 'error.type']),
  }
}

/** The same telemetry, which also measures. */
export function measureAgents(inner: Telemetry, metrics: Metrics, clock: Pick<Clock, 'mono'>): Telemetry {
  const measures = registerMeasures(metrics)
  return { ...inner, run: (start) => measuredAgent(inner.run(start), start.agent, measures, clock) }
}

function measuredAgent(span: AgentSpan, agent: string, measures: Measures, clock: Pick<Clock, 'mono'>): AgentSpan {
  const seconds = stopwatch(clock)
  let hasEnded = false
  return {
    trace: span.trace,
    waits: (wait) => span.waits(wait),
    model: (call) => measuredModel(span, call, measures, clock),
    tool(call) {
      const inside = span.tool(call)
      const took = stopwatch(clock)
      return {
        trace: inside.trace,
        end(end) {
          inside.end(end)
          measures.tool(took(), call.tool, end.outcome === 'failed' ? 'tool_failed' : '')
        },
      }
    },
    subagent: (start) => measuredAgent(span.subagent(start), start.agent, measures, clock),
    end(end) {
      if (hasEnded) return
      hasEnded = true
      span.end(end)
      measures.agent(seconds(), agent, end.error ?? '')
    },
  }
}

function measuredModel(
  agent: AgentSpan,
  call: ModelCallStarted,
  { modelCall, firstChunk, tokens }: Measures,
  clock: Pick<Clock, 'mono'>,
): ReturnType<AgentSpan['model']> {
  const span = agent.model(call)
  const took = stopwatch(clock)
  const labels = ['chat', providerName(call.provider), call.model] as const
  return {
    trace: span.trace,
    began() {
      span.began()
      firstChunk(took(), ...labels)
    },
    end(end) {
      span.end(end)
      modelCall(took(), ...labels, end.error ?? '')
      if (end.usage === null) return
      tokens(end.usage.inputTokens, ...labels, 'input')
      tokens(end.usage.outputTokens, ...labels, 'output')
    },
  }
}

function stopwatch(clock: Pick<Clock, 'mono'>): () => number {
  const began = clock.mono()
  return () => (clock.mono() - began) / 1_000
}
