// A receiver of OTLP over HTTP on this machine. It reads the JSON that exporters send.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

const value = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.string(), z.number()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
  arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string().optional() })) }).optional(),
})
const attributes = z.array(z.object({ key: z.string(), value }))
const resource = z.object({ attributes })

const Traces = z.object({
  resourceSpans: z.array(
    z.object({
      resource,
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              attributes,
              events: z.array(z.object({ name: z.string(), attributes })).default([]),
              links: z.array(z.object({ traceId: z.string(), spanId: z.string() })).default([]),
              status: z.object({ code: z.number().optional() }),
            }),
          ),
        }),
      ),
    }),
  ),
})

const Logs = z.object({
  resourceLogs: z.array(
    z.object({
      scopeLogs: z.array(
        z.object({
          logRecords: z.array(
            z.object({
              severityText: z.string(),
              body: z.object({ stringValue: z.string() }),
              attributes,
              traceId: z.string().optional(),
              spanId: z.string().optional(),
            }),
          ),
        }),
      ),
    }),
  ),
})

const point = z.object({
  attributes,
  asDouble: z.number().optional(),
  count: z.union([z.string(), z.number()]).optional(),
  sum: z.number().optional(),
  bucketCounts: z.array(z.union([z.string(), z.number()])).optional(),
  explicitBounds: z.array(z.number()).optional(),
})
const data = z.object({ dataPoints: z.array(point) }).optional()

const MetricsSchema = z.object({
  resourceMetrics: z.array(
    z.object({
      scopeMetrics: z.array(
        z.object({
          metrics: z.array(
            z.object({ name: z.string(), unit: z.string().optional(), sum: data, gauge: data, histogram: data }),
          ),
        }),
      ),
    }),
  ),
})

export interface SentSpan {
  /** `service.instance.id` of the process that sent it. */
  instance: string
  traceId: string
  spanId: string
  parentSpanId: string | null
  name: string
  kind: number
  attributes: Record<string, unknown>
  events: { name: string; attributes: Record<string, unknown> }[]
  links: { traceId: string; spanId: string }[]
  isError: boolean
}

export interface SentLine {
  level: string
  message: string
  traceId: string | null
  spanId: string | null
  attributes: Record<string, unknown>
}

export interface OtlpReceiver {
  readonly url: string
  readonly spans: SentSpan[]
  readonly lines: SentLine[]
  /** The points of the last batch, by the name of their metric. */
  readonly metrics: Map<string, { attributes: Record<string, unknown>; value: number; buckets: number[] }[]>
  readonly resources: Record<string, unknown>[]
  /** The headers of the requests so far. */
  readonly headers: Record<string, unknown>[]
  /** `hang`: from now on it takes requests and answers none. */
  behave(how: 'answer' | 'hang' | number): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: SentSpan[] = []
  const lines: SentLine[] = []
  const metrics: OtlpReceiver['metrics'] = new Map()
  const resources: Record<string, unknown>[] = []
  const headers: Record<string, unknown>[] = []
  let how: Parameters<OtlpReceiver['behave']>[0] = 'answer'

  function take(path: string, body: unknown): void {
    if (path === '/v1/traces') {
      for (const { resource: about, scopeSpans } of Traces.parse(body).resourceSpans) {
        const resource = plain(about.attributes)
        const instance = String(resource['service.instance.id'])
        resources.push(resource)
        spans.push(...scopeSpans.flatMap((scope) => scope.spans).map((span) => ({ instance, ...spanOf(span) })))
      }
    } else if (path === '/v1/logs') {
      const sent = Logs.parse(body).resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap((one) => one.logRecords))
      for (const { severityText, body: text, attributes: given, traceId = null, spanId = null } of sent) {
        const message = text.stringValue
        lines.push({ level: severityText, message, traceId, spanId, attributes: plain(given) })
      }
    } else if (path === '/v1/metrics') {
      const sent = MetricsSchema.parse(body).resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics)
      for (const { name, sum, gauge, histogram } of sent.flatMap((scope) => scope.metrics)) {
        const points = (sum ?? gauge ?? histogram)?.dataPoints ?? []
        metrics.set(
          name,
          points.map((one) => ({
            attributes: plain(one.attributes),
            value: Number(one.asDouble ?? one.count),
            buckets: (one.bucketCounts ?? []).map(Number),
          })),
        )
      }
    }
  }

  const server = createServer(async (request, response) => {
    const body = await json(request)
    headers.push(request.headers)
    if (how === 'hang') return
    if (how === 'answer') take(request.url ?? '', body)
    response.writeHead(how === 'answer' ? 200 : how, { 'Content-Type': 'application/json' }).end('{}')
  })
  const port = await listening(server)
  return {
    url: `http://127.0.0.1:${port}`,
    ...{ spans, lines, metrics, resources, headers },
    behave(next) {
      how = next
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

type Span = z.infer<typeof Traces>['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

const ERROR = 2

const spanOf = ({
  parentSpanId,
  attributes: given,
  events,
  links,
  status,
  ...span
}: Span): Omit<SentSpan, 'instance'> => ({
  ...span,
  parentSpanId: parentSpanId === undefined || parentSpanId === '' ? null : parentSpanId,
  attributes: plain(given),
  events: events.map(({ name, attributes: of }) => ({ name, attributes: plain(of) })),
  links: links.map(({ traceId, spanId }) => ({ traceId, spanId })),
  isError: status.code === ERROR,
})

const plain = (list: z.infer<typeof attributes>): Record<string, unknown> =>
  Object.fromEntries(
    list.map(({ key, value: { stringValue, intValue, doubleValue, boolValue, arrayValue } }) => [
      key,
      stringValue ??
        (intValue === undefined ? undefined : Number(intValue)) ??
        doubleValue ??
        boolValue ??
        arrayValue?.values.map((one) => one.stringValue),
    ]),
  )
