// Metrics in the Prometheus text format 0.0.4.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { z } from 'zod'
import type { HistogramValue, MetricFamily, MetricSample } from '../../domain/telemetry.ts'
import type { Role, Route } from '../route.ts'
import type { Answer } from '../server/dispatch.ts'
import type { HttpStats } from '../server/server.ts'
import { type ServerStateName, serverStates } from '../server-state.ts'

/** Names and labels may have dots, as those of OpenTelemetry do. Prometheus sees underscores, and the unit as a suffix. */
export interface Metrics {
  /** The returned function adds one for the given label values. */
  counter(name: string, help: string, labels?: readonly string[]): (...values: string[]) => void
  /** `read` is called for every scrape. */
  gauge(name: string, help: string, read: Read): void
  /** A counter that lives elsewhere. `read` is called for every scrape. */
  total(name: string, help: string, read: Read): void
  histogram(name: string, help: string, options: HistogramOptions): (value: number, ...values: string[]) => void
  /** `collect` is waited for before every scrape. It must end soon, and must not throw. */
  before(collect: () => Promise<void>): void
  /** Everything as it is now. */
  families(): Promise<readonly MetricFamily[]>
}

type Read = () => number | readonly { labels: MetricSample['labels']; value: number }[]

interface HistogramOptions {
  /** Upper bounds in ascending order, without infinity. */
  buckets: readonly number[]
  labels: readonly string[]
  /** A unit of OpenTelemetry, such as `s`. Empty for names that say it. */
  unit: string
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

export function createMetrics(): Metrics {
  const readers = new Map<string, () => MetricFamily>()
  const collectors: (() => Promise<void>)[] = []

  function add(family: Omit<MetricFamily, 'samples'>, samples: () => readonly MetricSample[]): void {
    const { name } = family
    if (!/^[a-z_][a-z0-9_.]*$/.test(name)) throw new Error(`${name} is not a valid metric name`)
    if (readers.has(name)) throw new Error(`the metric ${name} already exists`)
    readers.set(name, () => ({ ...family, samples: samples() }))
  }

  function read(name: string, type: 'counter' | 'gauge', help: string, source: Read): void {
    add({ name, help, unit: '', type }, () => {
      const value = source()
      return typeof value === 'number' ? [{ labels: {}, value }] : value
    })
  }

  return {
    counter(name, help, labels = []) {
      // A Map, not an object: label values may come from clients.
      const series = new Map<string, { labels: MetricSample['labels']; value: number }>()
      add({ name, help, unit: '', type: 'counter' }, () => [...series.values()])
      return (...values) => {
        const key = values.join('\0')
        const one = series.get(key)
        if (one !== undefined) one.value += 1
        else series.set(key, { labels: pair(labels, values), value: 1 })
      }
    },
    gauge: (name, help, source) => read(name, 'gauge', help, source),
    total: (name, help, source) => read(name, 'counter', help, source),
    histogram(name, help, { buckets, labels, unit }) {
      const series = new Map<string, Series>()
      add({ name, help, unit, type: 'histogram' }, () =>
        [...series.values()].map(({ labels, counts, sum, count }) => ({
          labels,
          value: { bounds: buckets, counts, sum, count },
        })),
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
    before: (collect) => void collectors.push(collect),
    async families() {
      await Promise.all(collectors.map((collect) => collect()))
      return [...readers.values()].map((family) => family())
    },
  }
}

interface Series {
  labels: MetricSample['labels']
  counts: number[]
  sum: number
  count: number
}

/** One sample for each count, by what they are the counts of. */
export const byLabel = (label: string, counts: Readonly<Record<string, number>>) =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }))

function pair(names: readonly string[], values: readonly string[]): Record<string, string> {
  if (names.length !== values.length) throw new Error(`expected the labels ${names.join(', ')}`)
  return Object.fromEntries(names.map((name, i) => [name, values[i] ?? '']))
}

export const metricsText = (families: readonly MetricFamily[]): string =>
  `${families.flatMap(familyLines).join('\n')}\n`

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' }

/** The name that Prometheus sees, by the rules of OpenTelemetry. */
const shownName = ({ name, unit }: MetricFamily): string => `${name.replaceAll('.', '_')}${SUFFIXES[unit] ?? ''}`

function familyLines(family: MetricFamily): string[] {
  const name = shownName(family)
  return [
    `# HELP ${name} ${escapeHelp(family.help)}`,
    `# TYPE ${name} ${family.type}`,
    ...family.samples.flatMap(({ labels, value }) => {
      const pairs = Object.entries(labels)
      return typeof value === 'number'
        ? [`${name}${labelText(pairs)} ${numberText(value)}`]
        : histogramLines(name, pairs, value)
    }),
  ]
}

function histogramLines(name: string, labels: readonly [string, string][], value: HistogramValue): string[] {
  const { bounds, counts, sum, count } = value
  return [
    ...bounds.map((bound, i) => `${name}_bucket${labelText([...labels, ['le', String(bound)]])} ${counts[i] ?? 0}`),
    `${name}_bucket${labelText([...labels, ['le', '+Inf']])} ${count}`,
    `${name}_sum${labelText(labels)} ${numberText(sum)}`,
    `${name}_count${labelText(labels)} ${count}`,
  ]
}

function labelText(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name.replaceAll('.', '_')}="${escapeLabel(value)}"`).join(',')}}`
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

/** What runs here. Other metrics have no such labels: join them with this one by `instance`. */
export function registerBuildInfo(metrics: Metrics, about: { version: string; store: string; replica: string }): void {
  const labels = { ...about, node: process.versions.node }
  metrics.gauge('quarterdeck_build_info', 'What runs here. The value is 1.', () => [{ labels, value: 1 }])
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
  /** By why they had no owner. */
  takenOver: Readonly<Record<string, number>>
}

export function registerEngineMetrics(metrics: Metrics, read: () => EngineNumbers): void {
  metrics.gauge('quarterdeck_active_runs', 'Runs that are executing.', () => read().activeRuns)
  metrics.gauge('quarterdeck_queued_runs', 'Runs that wait for their session.', () => read().queuedRuns)
  metrics.gauge('quarterdeck_readers', 'Readers of sessions and runs.', () => read().readers)
  metrics.total('quarterdeck_runs_started_total', 'Runs accepted.', () => read().runsStarted)
  metrics.total('quarterdeck_runs_finished_total', 'Runs that ended, by outcome.', () =>
    byLabel('outcome', read().runsFinished),
  )
  metrics.total(
    'quarterdeck_runs_taken_over_total',
    'Runs that this process took over from another one, or from itself.',
    () => byLabel('reason', read().takenOver),
  )
  metrics.total('quarterdeck_tokens_total', 'Tokens reported by models.', () => byLabel('direction', read().tokens))
  metrics.total(
    'quarterdeck_late_tool_errors_total',
    'Errors of function tools that came after their call had ended.',
    () => byLabel('tool', read().lateToolErrors),
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
    unit: '',
  })
  metrics.gauge('quarterdeck_http_streams', 'Open streams.', () => stats().streams)
  metrics.gauge('quarterdeck_http_connections', 'Open connections.', () => stats().connections)
  metrics.gauge('quarterdeck_http_requests_in_work', 'Requests that are not completely answered.', () => stats().inWork)
  metrics.gauge('quarterdeck_state', 'The current state of the server has the value 1.', () =>
    serverStates.map((name) => ({ labels: { state: name }, value: name === state() ? 1 : 0 })),
  )
  const refuse = metrics.counter('quarterdeck_http_refused_total', 'Requests refused, by the code of the problem.', [
    'code',
    'status',
  ])
  return ({ method, route, status, seconds, code }) => {
    if (code !== null) refuse(code, String(status))
    count(METHODS.has(method) ? method : '-', route, String(status))
    observe(seconds, route)
  }
}

/** `role` is `operator` when the server can be reached from other machines, and `user` on loopback. */
export function metricsRoutes(metrics: Metrics, role: Exclude<Role, 'public'>): Route[] {
  return [
    {
      method: 'GET',
      path: '/metrics',
      body: 'none',
      door: null,
      role,
      anytime: true,
      summary: 'Metrics of the server in the text format of Prometheus.',
      describe: () => ({
        tag: 'Operations',
        responses: { 200: { description: 'All metrics.', content: { [metricsContentType]: { schema: z.string() } } } },
        errors: [],
      }),
      async handle(_request, reply) {
        reply.text(200, metricsText(await metrics.families()), metricsContentType)
      },
    },
  ]
}
