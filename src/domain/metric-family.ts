/** One metric with all its series, as it is at one moment. `/metrics` shows it as text, OpenTelemetry gets it as numbers. */
export interface MetricFamily {
  /** Names with dots are those of OpenTelemetry. */
  name: string
  help: string
  /** A unit of OpenTelemetry, such as `s`. Empty: it has none, or its name says it. */
  unit: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly MetricSample[]
}

export interface MetricSample {
  labels: Readonly<Record<string, string>>
  value: number | HistogramValue
}

export interface HistogramValue {
  /** Upper bounds in ascending order, without infinity. */
  bounds: readonly number[]
  /** How many values are at most as large as each bound. */
  counts: readonly number[]
  sum: number
  count: number
}
