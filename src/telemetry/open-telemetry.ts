// OpenTelemetry over OTLP/HTTP. This folder is loaded only when the settings name a receiver: its packages cost memory and time.

import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  RandomIdGenerator,
  type ReadableSpan,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { within } from '../domain/abort.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { TelemetrySettings, TelemetrySignal } from '../domain/settings/telemetry-settings.ts'
import { type MetricFamily, noTelemetry, type Telemetry } from '../domain/telemetry.ts'
import { type BatchQueue, createBatchQueue, type QueueCounts, queueLimits } from './batch-queue.ts'
import { createRunIds, createSpans } from './create-spans.ts'
import { hrTime, logRecord, metricData, type ReadableLogRecord } from './otlp-data.ts'

interface OpenOptions {
  settings: TelemetrySettings
  version: string
  /** Tells the replicas of one service apart. */
  instanceId: string
  clock: Clock
  /** The server's log. Our own lines must not come back to us without end, so failures are told rarely. */
  log: Logger
  /** Replaces what must not leave the server. */
  redact(text: string): string
}

/** A receiver that needs longer is treated as gone. */
const SEND_MS = 10_000
const METRICS_MS = 60_000
/** A receiver that is down is mentioned in the log at most this often. */
const TELL_MS = 300_000

type Exporter<T> = { export(items: T, done: (result: { code: number; error?: Error }) => void): void }

export function openTelemetry(options: OpenOptions) {
  const { settings, version, clock, log } = options
  const { traces, metrics, logs } = settings.endpoints
  const scope = { name: 'quarterdeck', version }
  const resource = resourceOf(options)
  const connections = createConnections()
  const config = (url: string) => ({
    url,
    headers: { ...settings.headers },
    timeoutMillis: SEND_MS,
    concurrencyLimit: 2,
    httpAgentOptions: connections.agentFor,
  })
  const send = createSend(options)
  const queues: Partial<Record<TelemetrySignal, Pick<BatchQueue<unknown>, 'counts' | 'close'>>> = {}

  function queueFor<T extends Attributed>(signal: TelemetrySignal, exporter: Exporter<T[]>): BatchQueue<T> {
    const queue = createBatchQueue<T>({
      send: (items) => send(signal, exporter, [...items]),
      clock,
      sizeOf,
      limits: queueLimits,
    })
    queues[signal] = queue
    return queue
  }

  const spans = traces === null ? null : queueFor<ReadableSpan>('traces', new OTLPTraceExporter(config(traces)))
  const lines = logs === null ? null : queueFor<ReadableLogRecord>('logs', new OTLPLogExporter(config(logs)))
  const metricExporter = metrics === null ? null : new OTLPMetricExporter(config(metrics))
  let lastMetrics: (() => Promise<void>) | null = null
  let stopMetrics = (): void => {}

  return {
    telemetry: spans === null ? noTelemetry : tracing(options, resource, (span) => spans.add(span)),
    /** Sends a line of our log, as JSON. Null: logs are not sent. */
    takeLine: lines === null ? null : (line: string) => lines.add(logRecord(line, { resource, scope })),
    /** Sends the metrics every minute, and once more at the end. */
    sendMetrics(read: () => Promise<readonly MetricFamily[]>): void {
      if (metricExporter === null) return
      const counts: QueueCounts = { sent: 0, full: 0, failed: 0 }
      queues.metrics = { counts, close: async () => {} }
      const since = hrTime(clock.now())
      const once = async (): Promise<void> => {
        const families = await read().catch((error: unknown) => void log.error('metrics could not be read', { error }))
        if (families === undefined) return
        const data = metricData(families, { resource, scope, since, now: hrTime(clock.now()) })
        if (await send('metrics', metricExporter, data)) counts.sent += 1
        else counts.failed += 1
      }
      const again = (): void => {
        stopMetrics = clock.after(METRICS_MS, () => void once().finally(again))
      }
      again()
      lastMetrics = once
    },
    /** What was sent and what was lost so far. */
    counts: (): Readonly<Partial<Record<TelemetrySignal, QueueCounts>>> =>
      Object.fromEntries(Object.entries(queues).map(([signal, { counts }]) => [signal, counts])),
    /** Sends what is left, for at most `ms`. */
    async close(ms: number): Promise<void> {
      stopMetrics()
      const all = [lastMetrics?.(), ...Object.values(queues).map((queue) => queue.close(ms))]
      await within(clock, ms, Promise.all(all))
      connections.close()
    },
  }
}

interface Attributed {
  readonly attributes: Readonly<Record<string, unknown>>
}

/** Only texts can be long. */
const sizeOf = ({ attributes }: Attributed): number =>
  Object.values(attributes).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

function tracing(options: OpenOptions, resource: Resource, onEnd: (span: ReadableSpan) => void): Telemetry {
  const { settings, version, redact } = options
  const ids = createRunIds(new RandomIdGenerator())
  const provider = new TracerProvider({
    resource,
    idGenerator: ids,
    sampler: samplerOf(settings),
    spanProcessors: [
      {
        onStart() {},
        onEnd: (span) => {
          if ((span.spanContext().traceFlags & 1) === 1) onEnd(span)
        },
        forceFlush: async () => {},
        shutdown: async () => {},
      },
    ],
  })
  const content = settings.content ? { redact, maxChars: settings.contentChars } : null
  return createSpans({ tracer: provider.getTracer('quarterdeck', version), ids, content })
}

const resourceOf = ({ settings, version, instanceId }: OpenOptions): Resource =>
  resourceFromAttributes({
    'service.version': version,
    'service.instance.id': instanceId,
    ...settings.resource,
    'service.name': settings.serviceName,
    'telemetry.sdk.name': 'opentelemetry',
    'telemetry.sdk.language': 'nodejs',
  })

function samplerOf({ sampler, samplerRatio }: TelemetrySettings): Sampler {
  switch (sampler) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(samplerRatio)
    case 'parentbased_always_on':
      return new ParentBasedSampler({ root: new AlwaysOnSampler() })
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() })
    case 'parentbased_traceidratio':
      return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(samplerRatio) })
  }
}

/** Sends once, and says in the log when a receiver is down. */
function createSend({ clock, log }: Pick<OpenOptions, 'clock' | 'log'>) {
  const toldAt = new Map<TelemetrySignal, number>()

  function tell(signal: TelemetrySignal, error: unknown): void {
    const last = toldAt.get(signal)
    if (last !== undefined && clock.mono() - last < TELL_MS) return
    toldAt.set(signal, clock.mono())
    log.warn('telemetry could not be sent; the metric quarterdeck_telemetry_dropped_total counts what is lost', {
      signal,
      error,
    })
  }

  return <T>(signal: TelemetrySignal, exporter: Exporter<T>, items: T): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (error: unknown): void => {
        if (error !== undefined) tell(signal, error)
        resolve(error === undefined)
      }
      try {
        exporter.export(items, ({ code, error }) =>
          settle(code === 0 ? undefined : (error ?? new Error('the receiver did not take it'))),
        )
      } catch (error) {
        settle(error)
      }
    })
}

/** Connections of our own, so that a receiver that never answers does not keep the process alive at the end. */
function createConnections() {
  const agents: (HttpAgent | HttpsAgent)[] = []
  return {
    agentFor(protocol: string): HttpAgent | HttpsAgent {
      const agent = protocol === 'http:' ? new HttpAgent({ keepAlive: true }) : new HttpsAgent({ keepAlive: true })
      agents.push(agent)
      return agent
    },
    close(): void {
      for (const agent of agents) agent.destroy()
    },
  }
}
