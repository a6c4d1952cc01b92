import { type Attributes, type HrTime, ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import type { HistogramValue, MetricFamily, MetricSample } from '../domain/metric-family.ts'

/** Our metrics in the form that OTLP sends. All are sums since `since`. */
export function metricData(
  families: readonly MetricFamily[],
  {
    resource,
    scope,
    since,
    now,
  }: { resource: Resource; scope: { name: string; version: string }; since: HrTime; now: HrTime },
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
    attributes: attributesOf(labels),
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
const attributesOf = (labels: MetricSample['labels']): Attributes =>
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
