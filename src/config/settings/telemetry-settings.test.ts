import { describe, expect, test } from 'vitest'
import type { ConfigError } from '../config-error.ts'
import { resolveSettings } from './resolve-settings.ts'

const resolve = (env: Record<string, string>) =>
  resolveSettings({ flags: {}, env, file: null, onTerminal: false }).settings.telemetry

/** Other settings of telemetry count only if there is a receiver: on a machine of many programs they may be meant for another. */
function problemOf(env: Record<string, string>): string {
  try {
    resolve({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', ...env })
  } catch (error) {
    return (error as ConfigError).message
  }
  return ''
}

describe('telemetry', () => {
  test('is off unless a receiver is named, and when it is disabled', () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

    expect([resolve({}), resolve({ OTEL_SERVICE_NAME: 'x' })]).toEqual([null, null])
    expect(resolve({ ...endpoint, OTEL_SDK_DISABLED: 'true' })).toBe(null)
    expect(resolve(endpoint)?.endpoints).toEqual({
      traces: 'http://127.0.0.1:4318/v1/traces',
      metrics: 'http://127.0.0.1:4318/v1/metrics',
      logs: 'http://127.0.0.1:4318/v1/logs',
    })
  })

  test('takes the variables of OpenTelemetry, and ours count more', () => {
    expect(
      resolve({
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://logs.example.com/in',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b, x-team = ops,',
        OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=agents,a=b=c',
        OTEL_SERVICE_NAME: 'theirs',
        QUARTERDECK_TELEMETRY_SERVICE_NAME: 'ours',
        OTEL_TRACES_SAMPLER: 'traceidratio',
        OTEL_TRACES_SAMPLER_ARG: '0.5',
      }),
    ).toEqual({
      endpoints: { traces: null, metrics: null, logs: 'http://logs.example.com/in' },
      headers: { 'x-key': 'a b', 'x-team': 'ops' },
      serviceName: 'ours',
      resource: { 'service.namespace': 'agents', a: 'b=c' },
      sampler: 'traceidratio',
      samplerRatio: 0.5,
      content: false,
      contentChars: 8_000,
    })
  })

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'an http or https address'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'no pair' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'key=%zz' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'parentbased_always_on'],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'a number from 0 to 1'],
  ])('explains a wrong value: %j', (env, explanation) => {
    expect(problemOf(env)).toContain(explanation)
  })

  test('never shows a key that is written wrong', () => {
    expect(problemOf({ OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' })).not.toContain('hunter2')
  })

  test('warns that gRPC is not spoken', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }

    expect(resolveSettings({ flags: {}, env, file: null, onTerminal: false }).warnings).toEqual([
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but telemetry is sent by HTTP with JSON. The endpoint must take that; collectors do on port 4318.',
    ])
  })
})
