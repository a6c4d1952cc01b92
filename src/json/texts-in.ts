/**
 * Every text in a JSON value, at any depth, also inside a text that is JSON itself, with the names of keys that can be paths. What is under
 * the keys of `without` is left out.
 */
export function* textsIn(value: unknown, without: ReadonlySet<string> = new Set()): Generator<string> {
  const left: unknown[] = [value]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one === 'string') {
      yield one
      left.push(valueIn(one))
    }
    if (typeof one !== 'object' || one === null) continue
    for (const [key, inner] of Object.entries(one)) {
      if (without.has(key)) continue
      if (!Array.isArray(one) && /[./\\~]/.test(key)) yield key
      left.push(inner)
    }
  }
}

/** Undefined if the text is neither a list nor an object. */
function valueIn(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
