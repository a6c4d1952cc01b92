// Our log lines and our metrics in the form that OTLP sends.
import { type Attributes, type HrTime, SeverityNumber, ValueType } from '@opentelemetry/api'
import type { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { isRecord } from '../domain/is-record.ts'
import type { HistogramValue, MetricFamily, MetricSample } from '../domain/telemetry.ts'

export type ReadableLogRecord = Parameters<OTLPLogExporter['export']>[0][number]

interface Sender {
  resource: Resource
  scope: { name: string; version: string }
}

const SEVERITIES = new Map([
  ['debug', SeverityNumber.DEBUG],
  ['info', SeverityNumber.INFO],
  ['warn', SeverityNumber.WARN],
  ['error', SeverityNumber.ERROR],
])

/** `line` is a line of our log as JSON, so it is masked and cut already. */
export function logRecord(line: string, { resource, scope }: Sender): ReadableLogRecord {
  const {
    time,
    level,
    message,
    trace_id: traceId,
    span_id: spanId,
    ...fields
  }: Record<string, unknown> = JSON.parse(line)
  const at = hrTime(Date.parse(String(time)))
  const isTraced = typeof traceId === 'string' && typeof spanId === 'string'
  return {
    hrTime: at,
    hrTimeObserved: at,
    severityText: String(level).toUpperCase(),
    severityNumber: SEVERITIES.get(String(level)) ?? SeverityNumber.INFO,
    body: String(message),
    attributes: attributesOf(fields),
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    ...(isTraced ? { spanContext: { traceId, spanId, traceFlags: 1 } } : {}),
  }
}

export const hrTime = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]

/** Deeper values become JSON: not every receiver takes them. */
const attributesOf = (fields: Record<string, unknown>): Attributes =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]): [string, string | number | boolean][] => {
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [[key, value]]
      if (isRecord(value) && key === 'error') {
        return [
          ['exception.type', String(value.code ?? value.name)],
          ['exception.message', String(value.message)],
        ]
      }
      return value === null || value === undefined ? [] : [[key, JSON.stringify(value)]]
    }),
  )

/** Our metrics in the form that OTLP sends. All are sums since `since`. */
export function metricData(
  families: readonly MetricFamily[],
  { resource, scope, since, now }: Sender & { since: HrTime; now: HrTime },
): ResourceMetrics {
  const metrics = families.filter(({ samples }) => samples.length > 0).map((family) => dataOf(family, since, now))
  return { resource, scopeMetrics: [{ scope, metrics }] }
}

function dataOf({ name, help, unit, type, samples }: MetricFamily, startTime: HrTime, endTime: HrTime): MetricData {
  const descriptor = { name, description: help, unit, valueType: ValueType.DOUBLE }
  const shared = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE }
  const point = <T>(labels: MetricSample['labels'], value: T) => ({
    startTime,
    endTime,
    attributes: labelAttributes(labels),
    value,
  })
  const numbers = samples.flatMap(({ labels, value }) => (typeof value === 'number' ? [point(labels, value)] : []))
  switch (type) {
    case 'histogram':
      return {
        ...shared,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: samples.flatMap(({ labels, value }) =>
          typeof value === 'number' ? [] : [point(labels, bucketsOf(value))],
        ),
      }
    case 'counter':
      return { ...shared, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: numbers }
    case 'gauge':
      return { ...shared, dataPointType: DataPointType.GAUGE, dataPoints: numbers }
  }
}

/** To Prometheus an empty label is none. */
const labelAttributes = (labels: MetricSample['labels']): Attributes =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== ''))

/** Ours count all values up to a bound, as Prometheus does. OTLP counts those between two bounds. */
function bucketsOf({ bounds, counts, sum, count }: HistogramValue) {
  const upTo = [...counts, count]
  return {
    buckets: { boundaries: [...bounds], counts: upTo.map((value, i) => value - (upTo[i - 1] ?? 0)) },
    sum,
    count,
  }
}
