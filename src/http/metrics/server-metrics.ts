// What the server measures about itself: its process, its engine and its HTTP answers.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Answer } from '../server/dispatch.ts'
import type { HttpStats } from '../server/server.ts'
import { type ServerStateName, serverStates } from '../server-state.ts'
import type { Metrics } from './metrics.ts'

const QUANTILES = [0.5, 0.99, 1]
const RESOLUTION_MS = 20

/** Memory and event-loop delay of this process. Call the returned function to stop measuring. */
export function registerProcessMetrics(metrics: Metrics): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  metrics.gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  metrics.gauge('nodejs_heap_used_bytes', 'Used heap.', () => process.memoryUsage().heapUsed)
  metrics.gauge('nodejs_eventloop_delay_seconds', 'Event-loop delay since the last scrape.', () => {
    const samples = QUANTILES.map((quantile) => ({
      labels: { quantile: String(quantile) },
      // Node measures the time between ticks, so even an idle loop shows the resolution.
      value: Math.max(0, delay.percentile(quantile * 100) / 1e9 - RESOLUTION_MS / 1000),
    }))
    delay.reset()
    return samples
  })
  return () => void delay.disable()
}

/** What the engine counts. It is read when Prometheus asks. */
interface EngineNumbers {
  activeRuns: number
  queuedRuns: number
  readers: number
  runsStarted: number
  runsFinished: Readonly<Record<string, number>>
  tokens: { input: number; output: number }
  /** Keyed by tool. */
  lateToolErrors: Readonly<Record<string, number>>
}

export function registerEngineMetrics(metrics: Metrics, read: () => EngineNumbers): void {
  metrics.gauge('quarterdeck_active_runs', 'Runs that are executing.', () => read().activeRuns)
  metrics.gauge('quarterdeck_queued_runs', 'Runs that wait for their session.', () => read().queuedRuns)
  metrics.gauge('quarterdeck_readers', 'Readers of sessions and runs.', () => read().readers)
  metrics.total('quarterdeck_runs_started_total', 'Runs accepted.', () => read().runsStarted)
  metrics.total('quarterdeck_runs_finished_total', 'Runs that ended, by outcome.', () =>
    Object.entries(read().runsFinished).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.total('quarterdeck_tokens_total', 'Tokens reported by models.', () =>
    Object.entries(read().tokens).map(([direction, value]) => ({ labels: { direction }, value })),
  )
  metrics.total(
    'quarterdeck_late_tool_errors_total',
    'Errors of function tools that came after their call had ended.',
    () => Object.entries(read().lateToolErrors).map(([tool, value]) => ({ labels: { tool }, value })),
  )
}

const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
// Clients choose the method, so only methods of the protocol become labels.
const METHODS = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PUT', 'PATCH'])

/** Returns the function to call for every answer. */
export function registerHttpMetrics(
  metrics: Metrics,
  stats: () => HttpStats,
  state: () => ServerStateName,
): (answer: Answer) => void {
  const count = metrics.counter('quarterdeck_http_requests_total', 'Requests answered.', ['method', 'route', 'status'])
  const observe = metrics.histogram('quarterdeck_http_response_seconds', 'Time until the answer began.', {
    buckets: BUCKETS,
    labels: ['route'],
  })
  metrics.gauge('quarterdeck_http_streams', 'Open streams.', () => stats().streams)
  metrics.gauge('quarterdeck_http_connections', 'Open connections.', () => stats().connections)
  metrics.gauge('quarterdeck_http_requests_in_work', 'Requests that are not completely answered.', () => stats().inWork)
  metrics.gauge('quarterdeck_state', 'The current state of the server has the value 1.', () =>
    serverStates.map((name) => ({ labels: { state: name }, value: name === state() ? 1 : 0 })),
  )
  return ({ method, route, status, seconds }) => {
    count(METHODS.has(method) ? method : '-', route, String(status))
    observe(seconds, route)
  }
}
