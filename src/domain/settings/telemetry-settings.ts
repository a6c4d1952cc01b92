/** Where traces, metrics and logs go, and what is in them. */
export interface TelemetrySettings {
  /** Addresses of OTLP over HTTP. Null: this kind of data is not sent. */
  endpoints: Readonly<Record<TelemetrySignal, string | null>>
  /** Sent with every request to these addresses. They often hold a key. */
  headers: Readonly<Record<string, string>>
  serviceName: string
  /** Said about this server besides its name and version. */
  resource: Readonly<Record<string, string>>
  sampler: TraceSampler
  /** The share of traces that is kept, from 0 to 1, for the samplers with a ratio. */
  samplerRatio: number
  /** Whether spans carry what people, models and tools say. */
  content: boolean
  /** Most characters of one attribute with content. */
  contentChars: number
}

export const telemetrySignals = ['traces', 'metrics', 'logs'] as const
export type TelemetrySignal = (typeof telemetrySignals)[number]

export const traceSamplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type TraceSampler = (typeof traceSamplers)[number]
