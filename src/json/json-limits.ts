// How much a client or a tool may put into a session as JSON of its own: its state, and what tools show beside it. The state is
// sent at the start of every run, and compared and stored at every change, so it has to stay small.

export const jsonLimits = { bytes: 1_000_000, values: 100_000, depth: 100 }

/** What is wrong with it, as a sentence; null: it is small enough. Looks no further than the limits go. */
export function jsonProblem(given: unknown): string | null {
  const { bytes, values, depth } = jsonLimits
  const tooLong = `It is longer than ${bytes / 1_000_000} MB as JSON.`
  // At least so many bytes: escapes and characters of several bytes are found at the end.
  let size = 0
  let count = 0
  let level: unknown[] = [given]
  for (let deep = 0; level.length > 0; deep += 1) {
    if (deep > depth) return `It is nested deeper than ${depth} levels.`
    const next: unknown[] = []
    for (const value of level) {
      count += 1
      size += 1
      if (typeof value === 'string') size += value.length + 1
      if (count > values) return `It holds more than ${values} values.`
      if (size > bytes) return tooLong
      if (ArrayBuffer.isView(value)) size += value.byteLength
      if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || hasToJson(value)) continue
      // A list of a million is not copied to see that it is too long.
      const keys = Array.isArray(value) ? null : Object.keys(value)
      if (count + next.length + (keys ?? Object(value)).length > values) return `It holds more than ${values} values.`
      for (const key of keys ?? []) size += key.length + 3
      if (size > bytes) return tooLong
      // To list the members of an object takes long where there are many, so that is done once.
      if (keys === null) for (const item of Object.values(value)) next.push(item)
      else for (const key of keys) next.push(Reflect.get(value, key))
    }
    level = next
  }
  const text = JSON.stringify(given) ?? ''
  return Buffer.byteLength(text) > bytes ? tooLong : null
}

/** A date and the like. A client's key of that name is a key as any other. */
const hasToJson = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function'
