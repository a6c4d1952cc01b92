// Reading what peers send: tolerant, by hand, because it runs once per token.

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The text under `key`, or '' when there is none. */
export function textAt(value: unknown, key: string): string {
  if (!isObject(value)) return ''
  const text = value[key]
  return typeof text === 'string' ? text : ''
}

/** A count under `key`, or undefined when there is no sensible number. */
export function countAt(value: unknown, key: string): number | undefined {
  if (!isObject(value)) return undefined
  const count = value[key]
  return typeof count === 'number' && Number.isFinite(count) && count >= 0 ? count : undefined
}

/** The object a JSON text holds, or null when it is no JSON or no object. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
