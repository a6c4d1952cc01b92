const MAX_LENGTH = 64

/** A name that every model accepts, made of any text. */
export function toolName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '')
  return (/^[A-Za-z]/.test(safe) ? safe : `_${safe}`).slice(0, MAX_LENGTH)
}

/** A name for an argument: more is allowed there. */
export function argumentName(text: string): string {
  const safe = text.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/(?<=.)_+$/, '')
  return (/^[A-Za-z_]/.test(safe) ? safe : `_${safe}`).slice(0, MAX_LENGTH)
}

/** `name`, or the first of `name_2`, `name_3`… that is not taken. Takes it. */
export function uniqueName(name: string, taken: Set<string>): string {
  let result = name
  for (let count = 2; taken.has(result); count += 1) {
    const suffix = `_${count}`
    result = name.slice(0, MAX_LENGTH - suffix.length) + suffix
  }
  taken.add(result)
  return result
}
