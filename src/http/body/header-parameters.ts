export interface HeaderValue {
  /** In lower case. */
  value: string
  /** By name, in lower case. */
  parameters: ReadonlyMap<string, string>
}

// A Map, not an object: the names come from clients.
const PARAMETER = /;[ \t]*([^\s=;"]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;"]*))/g

/**
 * A header such as `form-data; name="file"; filename="a.txt"`. Tolerant: what is no parameter is skipped, and of two of one
 * name the first counts.
 */
export function parseHeader(text: string): HeaderValue {
  const [value = ''] = text.split(';', 1)
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain = ''] of text.slice(value.length).matchAll(PARAMETER)) {
    const key = name.toLowerCase()
    // Only these two are escaped: old browsers send whole paths with plain backslashes.
    if (!parameters.has(key)) parameters.set(key, quoted?.replaceAll(/\\(["\\])/g, '$1') ?? plain.trim())
  }
  return { value: value.trim().toLowerCase(), parameters }
}
