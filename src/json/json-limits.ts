// How much JSON a client or a tool may put into a session: the shared state, and what tools show next to the conversation. The state is
// sent at the start of every run, and compared and stored at every change, so it must stay small.

export const jsonLimits = { bytes: 1_000_000, values: 100_000, depth: 100 }

/** A sentence that says which limit the value exceeds, or null. Reads no more than the limits allow. */
export function jsonProblem(given: unknown): string | null {
  const { bytes, values, depth } = jsonLimits
  const tooLong = `It is longer than ${bytes / 1_000_000} MB as JSON.`
  // A lower bound: escapes and characters of several bytes are counted at the end.
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
      // Checked before a list of a million values is copied.
      const keys = Array.isArray(value) ? null : Object.keys(value)
      if (count + next.length + (keys ?? Object(value)).length > values) return `It holds more than ${values} values.`
      for (const key of keys ?? []) size += key.length + 3
      if (size > bytes) return tooLong
      // Listing the keys of a large object is slow, so it is done once.
      if (keys === null) for (const item of Object.values(value)) next.push(item)
      else for (const key of keys) next.push(Reflect.get(value, key))
    }
    level = next
  }
  const text = JSON.stringify(given) ?? ''
  return Buffer.byteLength(text) > bytes ? tooLong : null
}

/** True for a date, for example. A client's own key `toJSON` is not a function, so it is an ordinary key. */
const hasToJson = (value: object): boolean => 'toJSON' in value && typeof value.toJSON === 'function'
