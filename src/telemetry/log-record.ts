import { type Attributes, type HrTime, SeverityNumber } from '@opentelemetry/api'
import type { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http'
import type { Resource } from '@opentelemetry/resources'
import { isRecord } from '../domain/is-record.ts'

export type ReadableLogRecord = Parameters<OTLPLogExporter['export']>[0][number]

const SEVERITIES = new Map([
  ['debug', SeverityNumber.DEBUG],
  ['info', SeverityNumber.INFO],
  ['warn', SeverityNumber.WARN],
  ['error', SeverityNumber.ERROR],
])

/** `line` is a line of our log as JSON, so it is masked and cut already. */
export function logRecord(
  line: string,
  { resource, scope }: { resource: Resource; scope: { name: string; version: string } },
): ReadableLogRecord {
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
