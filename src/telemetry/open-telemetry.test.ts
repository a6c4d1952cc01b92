import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../domain/clock.ts'
import type { TelemetrySettings } from '../domain/settings/telemetry-settings.ts'
import { type LogLine, recordingLogger } from '../domain/testing/recording-logger.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { openTelemetry } from './open-telemetry.ts'
import { openOtlpReceiver } from './testing/otlp-receiver.ts'

const settingsFor = (url: string, values: Partial<TelemetrySettings> = {}): TelemetrySettings => ({
  endpoints: { traces: `${url}/v1/traces`, metrics: `${url}/v1/metrics`, logs: `${url}/v1/logs` },
  headers: {},
  serviceName: 'test',
  resource: {},
  sampler: 'parentbased_always_on',
  samplerRatio: 1,
  content: false,
  contentChars: 1_000,
  ...values,
})

function open(settings: TelemetrySettings, clock = createSystemClock()) {
  const lines: LogLine[] = []
  const opened = openTelemetry({
    settings,
    version: '1',
    instanceId: 'one',
    clock,
    log: recordingLogger(lines),
    redact: (text) => text,
  })
  const request = () => opened.telemetry.request('GET', '/x', {}).end({ status: 200, isCut: false })
  return { ...opened, lines, request }
}

describe('a receiver', () => {
  test('that never answers blocks nobody, and the end waits for it no longer than it may', async () => {
    await using receiver = await openOtlpReceiver()
    receiver.behave('hang')
    const clock = createManualClock()
    const { request, counts, close } = open(settingsFor(receiver.url), clock)
    for (let i = 0; i < 10_000; i += 1) request()
    const closing = close(3_000)
    await clock.advance(3_000)
    await closing

    // One batch is on its way; the rest found no room, or was given up at the end.
    expect(counts().traces).toMatchObject({ sent: 0, full: 10_000 - 512 })
  })

  test('that refuses everything is mentioned once, and what is lost is counted', async () => {
    await using receiver = await openOtlpReceiver()
    receiver.behave(400)
    const { request, counts, lines, close } = open(settingsFor(receiver.url))
    for (let i = 0; i < 1_000; i += 1) request()
    await close(60_000)

    expect(counts().traces).toEqual({ sent: 0, full: 0, failed: 1_000 })
    expect(lines.map(({ level, fields }) => [level, fields.signal])).toEqual([['warn', 'traces']])
  })

  test('that comes back gets what follows', async () => {
    await using receiver = await openOtlpReceiver()
    receiver.behave(400)
    const { request, counts, close } = open(settingsFor(receiver.url))
    for (let i = 0; i < 512; i += 1) request()
    await expect.poll(() => counts().traces?.failed, { timeout: 60_000 }).toBe(512)
    receiver.behave('answer')
    request()
    await close(60_000)

    expect([receiver.spans.length, counts().traces]).toEqual([1, { sent: 1, full: 0, failed: 512 }])
  })
})

test.each([
  ['always_off', 0, 0],
  ['always_on', 0, 20],
  ['traceidratio', 0, 0],
  ['parentbased_traceidratio', 1, 20],
  ['parentbased_always_off', 1, 0],
] as const)('the sampler %s with the ratio %d keeps %d of 20 traces', async (sampler, samplerRatio, kept) => {
  await using receiver = await openOtlpReceiver()
  const { request, close } = open(settingsFor(receiver.url, { sampler, samplerRatio }))
  for (let i = 0; i < 20; i += 1) request()
  await close(60_000)

  expect(receiver.spans).toHaveLength(kept)
})

test('lines of the log keep their level, fields and trace', async () => {
  await using receiver = await openOtlpReceiver()
  const { takeLine, close } = open(settingsFor(receiver.url))
  const trace = { trace_id: '4bf92f3577b34da6a3ce929d0e0e4736', span_id: '00f067aa0ba902b7' }
  takeLine?.(JSON.stringify({ time: '2026-11-16T10:00:00.123Z', level: 'warn', message: 'late', ...trace, n: 3 }))
  const error = { name: 'ServerError', code: 'storage_full', message: 'no room' }
  takeLine?.(JSON.stringify({ time: '2026-11-16T10:00:00.124Z', level: 'error', message: 'failed', error, list: [1] }))
  await close(60_000)

  expect(receiver.lines).toEqual([
    { level: 'WARN', message: 'late', traceId: trace.trace_id, spanId: trace.span_id, attributes: { n: 3 } },
    {
      level: 'ERROR',
      message: 'failed',
      traceId: null,
      spanId: null,
      attributes: { 'exception.type': 'storage_full', 'exception.message': 'no room', list: '[1]' },
    },
  ])
})

test('metrics that cannot be read are mentioned, and the next ones are sent', async () => {
  await using receiver = await openOtlpReceiver()
  const clock = createManualClock()
  const { sendMetrics, counts, lines, close } = open(settingsFor(receiver.url), clock)
  let isBroken = true
  sendMetrics(async () => {
    if (isBroken) throw new Error('a gauge is broken')
    return []
  })
  await clock.advance(60_000)
  expect(lines.map(({ level, message }) => [level, message])).toEqual([['error', 'metrics could not be read']])

  isBroken = false
  await close(60_000)
  expect(counts().metrics).toEqual({ sent: 1, full: 0, failed: 0 })
})

describe('an MCP call', () => {
  test('belongs to the trace of its sender, and names the request that brought it', async () => {
    await using receiver = await openOtlpReceiver()
    const { telemetry, close } = open(settingsFor(receiver.url))
    const request = telemetry.request('POST', '/mcp', {})
    const meta = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    request.within(() => telemetry.mcpCall('ask_approval', meta).end({ isError: false }))
    request.within(() => telemetry.mcpCall('remote_log', { traceparent: 7 }).end({ isError: true }))
    request.end({ status: 200, isCut: false })
    await close(60_000)

    const [asked, logged, post] = receiver.spans
    expect(asked).toMatchObject({
      name: 'tools/call ask_approval',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: '00f067aa0ba902b7',
      links: [{ traceId: post?.traceId, spanId: post?.spanId }],
      isError: false,
    })
    expect(logged).toMatchObject({ traceId: post?.traceId, parentSpanId: post?.spanId, links: [], isError: true })
  })
})
