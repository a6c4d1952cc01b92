const MAX_LENGTH = 64

/** Makes a name that every model accepts from any text. */
export function toolName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  return (/^[A-Za-z]/.test(safe) ? safe : `_${safe}`).slice(0, MAX_LENGTH)
}

/** Makes a name for an argument. More characters are allowed there. */
export function argumentName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/(?<=.)_+$/, '')
  return (/^[A-Za-z_]/.test(safe) ? safe : `_${safe}`).slice(0, MAX_LENGTH)
}

/** `name`, or the first of `name_2`, `name_3`… that is not in `taken`. Adds it to `taken`. */
export function uniqueName(name: string, taken: Set<string>): string {
  let result = name
  for (let count = 2; taken.has(result); count += 1) {
    const suffix = `_${count}`
    result = name.slice(0, MAX_LENGTH - suffix.length) + suffix
  }
  taken.add(result)
  return result
}
