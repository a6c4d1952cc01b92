// Metrics in the Prometheus text format 0.0.4.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Answer } from '../server/dispatch.ts'
import type { HttpStats } from '../server/server.ts'
import { type ServerStateName, serverStates } from '../server-state.ts'
export interface Metrics {
  /** The returned function adds one for the given label values. */
  counter(name: string, help: string, labels?: readonly string[]): (...values: string[]) => void
  /** `read` is called for every scrape. */
  gauge(name: string, help: string, read: () => number | readonly Sample[]): void
  /** A counter that lives elsewhere. `read` is called for every scrape. */
  total(name: string, help: string, read: () => number | readonly Sample[]): void
  histogram(name: string, help: string, options: HistogramOptions): (value: number, ...values: string[]) => void
  text(): string
}

interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

interface HistogramOptions {
  /** Upper bounds in ascending order, without infinity. */
  buckets: readonly number[]
  labels?: readonly string[]
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

interface Series {
  labels: string
  value: number
}

export function createMetrics(): Metrics {
  const families = new Map<string, () => string[]>()

  function add(name: string, type: 'counter' | 'gauge' | 'histogram', help: string, lines: () => string[]): void {
    if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not a valid metric name`)
    if (families.has(name)) throw new Error(`the metric ${name} already exists`)
    const head = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`]
    families.set(name, () => [...head, ...lines()])
  }

  function read(name: string, type: 'counter' | 'gauge', help: string, source: () => number | readonly Sample[]): void {
    add(name, type, help, () => {
      const value = source()
      if (typeof value === 'number') return [`${name} ${numberText(value)}`]
      return value.map((sample) => `${name}${labelText(Object.entries(sample.labels))} ${numberText(sample.value)}`)
    })
  }

  return {
    counter(name, help, labels = []) {
      // A Map, not an object: label values may come from clients.
      const series = new Map<string, Series>()
      add(name, 'counter', help, () => [...series.values()].map((one) => `${name}${one.labels} ${one.value}`))
      return (...values) => {
        const key = values.join('\0')
        const one = series.get(key)
        if (one !== undefined) one.value += 1
        else series.set(key, { labels: labelText(pair(labels, values)), value: 1 })
      }
    },
    gauge: (name, help, source) => read(name, 'gauge', help, source),
    total: (name, help, source) => read(name, 'counter', help, source),
    histogram(name, help, { buckets, labels = [] }) {
      const series = new Map<string, { labels: [string, string][]; counts: number[]; sum: number; count: number }>()
      add(name, 'histogram', help, () =>
        [...series.values()].flatMap((one) => {
          const bounded = buckets.map(
            (bound, i) => `${name}_bucket${labelText([...one.labels, ['le', String(bound)]])} ${one.counts[i] ?? 0}`,
          )
          return [
            ...bounded,
            `${name}_bucket${labelText([...one.labels, ['le', '+Inf']])} ${one.count}`,
            `${name}_sum${labelText(one.labels)} ${numberText(one.sum)}`,
            `${name}_count${labelText(one.labels)} ${one.count}`,
          ]
        }),
      )
      return (value, ...values) => {
        const key = values.join('\0')
        let one = series.get(key)
        if (one === undefined) {
          one = { labels: pair(labels, values), counts: buckets.map(() => 0), sum: 0, count: 0 }
          series.set(key, one)
        }
        one.sum += value
        one.count += 1
        for (let i = buckets.length - 1; i >= 0 && value <= (buckets[i] ?? 0); i -= 1)
          one.counts[i] = (one.counts[i] ?? 0) + 1
      }
    },
    text: () => `${[...families.values()].flatMap((lines) => lines()).join('\n')}\n`,
  }
}

function pair(names: readonly string[], values: readonly string[]): [string, string][] {
  if (names.length !== values.length) throw new Error(`expected the labels ${names.join(', ')}`)
  return names.map((name, i) => [name, values[i] ?? ''])
}

function labelText(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

// What the server measures about itself: its process, its engine and its HTTP answers.

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
