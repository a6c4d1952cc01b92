export interface Percentiles {
  p50: number
  p95: number
  p99: number
  max: number
}

/** Nearest-rank percentiles, or null when there are no samples. */
export function percentilesOf(samples: readonly number[]): Percentiles | null {
  const sorted = Float64Array.from(samples).sort()
  const at = (share: number): number => sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)] ?? Number.NaN
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper
}
