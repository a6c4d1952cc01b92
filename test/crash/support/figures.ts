// What a test measured, as one line that docs/understand/promises.md can quote.

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** True in `npm run test:long`: tests then go through all variants of what they show, and otherwise through one. */
export const isLong = process.env.LONG === '1'

/** A count from the environment: the longer variants of a test. */
export function fromEnvironment(name: string, usual: number): number {
  const text = process.env[name]
  if (text === undefined) return usual
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} must be a whole number of at least 1`)
  return value
}

/** The value that `share` (0 to 1) of the sample does not exceed. */
export function quantile(sample: readonly number[], share: number): number {
  const sorted = sample.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
}

export const ms = (value: number): string => `${Math.round(value)} ms`
export const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
