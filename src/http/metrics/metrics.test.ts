import { describe, expect, test } from 'vitest'
import { operatorToken, route, startServer } from '../testing/server-fixture.ts'
import { createMetrics, metricsRoutes, metricsText, registerProcessMetrics } from './metrics.ts'

describe('metrics', () => {
  test('are written in the text format of Prometheus', async () => {
    const metrics = createMetrics()
    const count = metrics.counter('runs_total', 'Runs\\ so\nfar.', ['outcome', 'by'])
    const observe = metrics.histogram('seconds', 'Time.', { buckets: [0.1, 1], labels: ['route'], unit: '' })
    metrics.gauge('open', 'Open.', () => [
      { labels: { kind: 'a' }, value: 1 },
      { labels: { kind: 'b' }, value: Number.POSITIVE_INFINITY },
    ])
    metrics.total('tokens_total', 'Tokens.', () => 7)

    count('ok', 'a "b"\\\n')
    count('ok', 'a "b"\\\n')
    count('failed', '')
    observe(0.05, '/a')
    observe(0.1, '/a')
    observe(0.5, '/a')
    observe(3, '/a')

    expect(metricsText(await metrics.families())).toBe(
      [
        '# HELP runs_total Runs\\\\ so\\nfar.',
        '# TYPE runs_total counter',
        'runs_total{outcome="ok",by="a \\"b\\"\\\\\\n"} 2',
        'runs_total{outcome="failed",by=""} 1',
        '# HELP seconds Time.',
        '# TYPE seconds histogram',
        'seconds_bucket{route="/a",le="0.1"} 2',
        'seconds_bucket{route="/a",le="1"} 3',
        'seconds_bucket{route="/a",le="+Inf"} 4',
        'seconds_sum{route="/a"} 3.65',
        'seconds_count{route="/a"} 4',
        '# HELP open Open.',
        '# TYPE open gauge',
        'open{kind="a"} 1',
        'open{kind="b"} +Inf',
        '# HELP tokens_total Tokens.',
        '# TYPE tokens_total counter',
        'tokens_total 7',
        '',
      ].join('\n'),
    )
  })

  test('a name must be valid and unique', () => {
    const metrics = createMetrics()
    metrics.gauge('open', 'Open.', () => 0)

    expect(() => metrics.gauge('open', 'Open.', () => 0)).toThrow('already exists')
    expect(() => metrics.gauge('no-name', 'No.', () => 0)).toThrow('is not a valid metric name')
  })
})

describe('GET /metrics', () => {
  test('counts answers by route pattern, never by client text, and shows state and streams', async () => {
    const metrics = createMetrics()
    const hold = Promise.withResolvers<void>()
    const routes = [
      ...metricsRoutes(metrics, 'user'),
      route('GET /runs/:id', (_request, reply) => reply.json(200, {})),
      route('GET /events', (_request, reply) => {
        reply.sse()
        return hold.promise
      }),
    ]
    await using server = await startServer({ routes, metrics })
    const abort = new AbortController()
    for (const path of ['/runs/1', '/runs/2', '/nope/%22', '/events']) {
      await fetch(`${server.url}${path}`, { signal: abort.signal })
    }

    const text = await (await fetch(`${server.url}/metrics`)).text()

    const lines = text.split('\n')
    expect(lines.filter((line) => line.startsWith('quarterdeck_http_requests_total'))).toEqual([
      'quarterdeck_http_requests_total{method="GET",route="/runs/:id",status="200"} 2',
      'quarterdeck_http_requests_total{method="GET",route="-",status="404"} 1',
    ])
    expect(lines).toContain('quarterdeck_http_streams 1')
    expect(lines).toContain('quarterdeck_state{state="ready"} 1')
    expect(lines).toContain('quarterdeck_http_response_seconds_count{route="/runs/:id"} 2')
    hold.resolve()
    abort.abort()
  })

  test("needs the operator's token if configured so", async () => {
    await using server = await startServer({ routes: metricsRoutes(createMetrics(), 'operator') })
    const headers = { authorization: `Bearer ${operatorToken.token}` }

    expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
    const answer = await fetch(`${server.url}/metrics`, { headers })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
  })

  test('shows memory and event-loop delay of the process', async () => {
    const metrics = createMetrics()
    const stop = registerProcessMetrics(metrics)

    // Read in the same tick, so the loop had no delay yet.
    const text = metricsText(await metrics.families())
    stop()

    expect(text).toMatch(/^process_resident_memory_bytes \d{7,}$/m)
    expect(text).toMatch(/^nodejs_heap_used_bytes \d{6,}$/m)
    expect(text).toMatch(/^nodejs_eventloop_delay_seconds\{quantile="0.99"\} 0$/m)
  })
})
