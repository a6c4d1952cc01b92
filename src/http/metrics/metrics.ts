// Metrics in the Prometheus text format 0.0.4.

export interface Metrics {
  /** The returned function adds one for the given label values. */
  counter(name: string, help: string, labels?: readonly string[]): (...values: string[]) => void
  /** `read` is called for every scrape. */
  gauge(name: string, help: string, read: () => number | readonly Sample[]): void
  /** A counter that lives elsewhere. `read` is called for every scrape. */
  total(name: string, help: string, read: () => number | readonly Sample[]): void
  histogram(name: string, help: string, options: HistogramOptions): (value: number, ...values: string[]) => void
  text(): string
}

interface Sample {
  labels: Readonly<Record<string, string>>
  value: number
}

interface HistogramOptions {
  /** Upper bounds in ascending order, without infinity. */
  buckets: readonly number[]
  labels?: readonly string[]
}

export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8'

interface Series {
  labels: string
  value: number
}

export function createMetrics(): Metrics {
  const families = new Map<string, () => string[]>()

  function add(name: string, type: 'counter' | 'gauge' | 'histogram', help: string, lines: () => string[]): void {
    if (!/^[a-z_][a-z0-9_]*$/.test(name)) throw new Error(`${name} is not a valid metric name`)
    if (families.has(name)) throw new Error(`the metric ${name} already exists`)
    const head = [`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`]
    families.set(name, () => [...head, ...lines()])
  }

  function read(name: string, type: 'counter' | 'gauge', help: string, source: () => number | readonly Sample[]): void {
    add(name, type, help, () => {
      const value = source()
      if (typeof value === 'number') return [`${name} ${numberText(value)}`]
      return value.map((sample) => `${name}${labelText(Object.entries(sample.labels))} ${numberText(sample.value)}`)
    })
  }

  return {
    counter(name, help, labels = []) {
      // A Map, not an object: label values may come from clients.
      const series = new Map<string, Series>()
      add(name, 'counter', help, () => [...series.values()].map((one) => `${name}${one.labels} ${one.value}`))
      return (...values) => {
        const key = values.join('\0')
        const one = series.get(key)
        if (one !== undefined) one.value += 1
        else series.set(key, { labels: labelText(pair(labels, values)), value: 1 })
      }
    },
    gauge: (name, help, source) => read(name, 'gauge', help, source),
    total: (name, help, source) => read(name, 'counter', help, source),
    histogram(name, help, { buckets, labels = [] }) {
      const series = new Map<string, { labels: [string, string][]; counts: number[]; sum: number; count: number }>()
      add(name, 'histogram', help, () =>
        [...series.values()].flatMap((one) => {
          const bounded = buckets.map(
            (bound, i) => `${name}_bucket${labelText([...one.labels, ['le', String(bound)]])} ${one.counts[i] ?? 0}`,
          )
          return [
            ...bounded,
            `${name}_bucket${labelText([...one.labels, ['le', '+Inf']])} ${one.count}`,
            `${name}_sum${labelText(one.labels)} ${numberText(one.sum)}`,
            `${name}_count${labelText(one.labels)} ${one.count}`,
          ]
        }),
      )
      return (value, ...values) => {
        const key = values.join('\0')
        let one = series.get(key)
        if (one === undefined) {
          one = { labels: pair(labels, values), counts: buckets.map(() => 0), sum: 0, count: 0 }
          series.set(key, one)
        }
        one.sum += value
        one.count += 1
        for (let i = buckets.length - 1; i >= 0 && value <= (buckets[i] ?? 0); i -= 1)
          one.counts[i] = (one.counts[i] ?? 0) + 1
      }
    },
    text: () => `${[...families.values()].flatMap((lines) => lines()).join('\n')}\n`,
  }
}

function pair(names: readonly string[], values: readonly string[]): [string, string][] {
  if (names.length !== values.length) throw new Error(`expected the labels ${names.join(', ')}`)
  return names.map((name, i) => [name, values[i] ?? ''])
}

function labelText(labels: readonly (readonly [string, string])[]): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const escapeHelp = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
