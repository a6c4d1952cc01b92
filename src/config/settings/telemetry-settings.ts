// OpenTelemetry. Beside our own variables, those of its specification count, so that an operator sets it up as for every other
// program. Whether content leaves the server has no variable: it must not come from a `.env` that an agent can write.

import { z } from 'zod'
import {
  type TelemetrySettings,
  type TelemetrySignal,
  type TraceSampler,
  telemetrySignals,
  traceSamplers,
} from '../../domain/settings/telemetry-settings.ts'
import { type Environment, variable } from '../source/env-file.ts'
import { count } from '../source/schema-key.ts'
import { webAddress } from './channel-values.ts'
import { fileSetting, setting } from './setting.ts'
import { toggle } from './setting-values.ts'
import type { ReadSetting } from './settings.ts'

type Pairs = Readonly<Record<string, string>>

const PAIRS = 'names with values, or text like name=value,other=value'

/** A map, or the text of the OpenTelemetry variables: `name=value,other=value`, with percent-encoding. */
const pairs = () =>
  z
    .union([z.record(z.string().min(1), z.string()), z.string()])
    .refine((value) => typeof value !== 'string' || readPairs(value) !== null, { error: '' })
    .transform((value): Pairs => (typeof value === 'string' ? (readPairs(value) ?? {}) : value))

function readPairs(text: string): Pairs | null {
  const found: [string, string][] = []
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const name = part.slice(0, at).trim()
    if (at < 1 || name === '') return null
    try {
      found.push([name, decodeURIComponent(part.slice(at + 1).trim())])
    } catch {
      return null
    }
  }
  return Object.fromEntries(found)
}

const address = (signal: TelemetrySignal) =>
  setting<string | null>({
    ...webAddress(),
    description: `Where ${signal} go, as the whole address. It counts more than \`telemetry.endpoint\`.`,
    example: `http://127.0.0.1:4318/v1/${signal}`,
    defaultText: `\`telemetry.endpoint\` with \`/v1/${signal}\``,
    variables: [`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_ENDPOINT`],
  })

export const telemetryTable = {
  'telemetry.endpoint': setting<string | null>({
    ...webAddress(),
    description:
      'Sends traces, metrics and logs by OTLP over HTTP to this address, which is usually an OpenTelemetry collector. Its port for HTTP is 4318; gRPC (4317) is not spoken.',
    example: 'http://127.0.0.1:4318',
    defaultText: 'none: nothing is sent',
    variables: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
  }),
  'telemetry.traces_endpoint': address('traces'),
  'telemetry.metrics_endpoint': address('metrics'),
  'telemetry.logs_endpoint': address('logs'),
  'telemetry.headers': setting<Pairs>({
    schema: pairs(),
    description: 'Headers of the requests to these addresses, such as a key.',
    expected: PAIRS,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: ${NAME} is the syntax of our files.
    example: { 'x-api-key': '${COLLECTOR_KEY}' },
    default: {},
    secret: true,
    variables: ['OTEL_EXPORTER_OTLP_HEADERS'],
  }),
  'telemetry.service_name': setting<string>({
    schema: z.string().min(1),
    description: 'The name of this server in traces, metrics and logs. It is the same for all replicas.',
    example: 'support-agent',
    default: 'quarterdeck',
    variables: ['OTEL_SERVICE_NAME'],
  }),
  'telemetry.resource_attributes': setting<Pairs>({
    schema: pairs(),
    description: 'What else is said about this server, such as the environment it runs in.',
    expected: PAIRS,
    example: { 'deployment.environment.name': 'production' },
    default: {},
    variables: ['OTEL_RESOURCE_ATTRIBUTES'],
  }),
  'telemetry.sampler': setting<TraceSampler>({
    schema: z.enum(traceSamplers),
    description:
      'Which traces are kept. The `parentbased_` ones do what the caller has decided, and decide only about traces that begin here.',
    example: 'parentbased_traceidratio',
    default: 'parentbased_always_on',
    variables: ['OTEL_TRACES_SAMPLER'],
  }),
  'telemetry.sampler_arg': setting<number>({
    schema: z.number().min(0).max(1),
    description: 'The share of traces that the samplers with `traceidratio` keep.',
    expected: 'a number from 0 to 1',
    example: 0.1,
    default: 1,
    variables: ['OTEL_TRACES_SAMPLER_ARG'],
  }),
  'telemetry.disabled': setting<boolean>({
    ...toggle(false),
    description: 'Sends nothing, whatever else is set.',
    variables: ['OTEL_SDK_DISABLED'],
  }),
  'telemetry.content': fileSetting<boolean>({
    ...toggle(false),
    description:
      'Put messages, answers, arguments and results into the spans, with secrets masked. Whoever reads the traces then reads the conversations.',
  }),
  'telemetry.content_chars': fileSetting<number>({
    schema: count(100).max(1_000_000),
    description: 'Most characters of content in one attribute of a span. The rest is cut.',
    example: 4_000,
    default: 8_000,
  }),
}

/** Null: nothing is sent, and nothing of OpenTelemetry is loaded. */
export function assembleTelemetry(read: ReadSetting): TelemetrySettings | null {
  const base = read('telemetry.endpoint')
  const endpointOf = (signal: TelemetrySignal): string | null =>
    read(`telemetry.${signal}_endpoint`) ?? (base === null ? null : `${base.replace(/\/+$/, '')}/v1/${signal}`)
  const endpoints = { traces: endpointOf('traces'), metrics: endpointOf('metrics'), logs: endpointOf('logs') }
  if (read('telemetry.disabled') || telemetrySignals.every((signal) => endpoints[signal] === null)) return null
  return {
    endpoints,
    headers: read('telemetry.headers'),
    serviceName: read('telemetry.service_name'),
    resource: read('telemetry.resource_attributes'),
    sampler: read('telemetry.sampler'),
    samplerRatio: read('telemetry.sampler_arg'),
    content: read('telemetry.content'),
    contentChars: read('telemetry.content_chars'),
  }
}

/** Sentences for whoever has set up OpenTelemetry for another program and expects the same here. */
export function telemetryWarnings(settings: TelemetrySettings | null, env: Environment): string[] {
  const protocol = variable(env, 'OTEL_EXPORTER_OTLP_PROTOCOL')
  if (settings === null || protocol === undefined || protocol.startsWith('http/')) return []
  return [
    `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but telemetry is sent by HTTP with JSON. The endpoint must take that; collectors do on port 4318.`,
  ]
}
