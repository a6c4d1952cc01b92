// Globs for names and paths in policies and lists: `*` matches any characters except `/`, `**` matches any characters, `?`
// matches one character except `/`. `**/` at the start of a name may also match nothing, so `src/**/*.ts` matches `src/a.ts`.
// Every other character matches itself. The whole text must match.

type Part = { any: 'within' | 'across' | 'folders' } | { one: string | null }

/**
 * Takes time proportional to text × pattern, for any input: it follows all places in the pattern that the text so far can have
 * reached at once, and never goes back.
 */
export function globMatches(pattern: string, text: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === text
  const parts = parse(pattern)
  /** For each place: the step at which it was last reached. */
  const reachedAt = new Uint32Array(parts.length + 1)
  let step = 1
  let reached: number[] = []
  let next: number[] = []
  /** Adds a place, and the places after it as far as they may match nothing. */
  const reach = (at: number): void => {
    for (let place = at; reachedAt[place] !== step; place += 1) {
      reachedAt[place] = step
      next.push(place)
      const part = parts[place]
      if (part === undefined || 'one' in part) return
    }
  }
  reach(0)
  for (const char of text) {
    ;[reached, next] = [next, reached]
    next.length = 0
    step += 1
    for (const at of reached) {
      const part = parts[at]
      if (part === undefined) continue
      if ('one' in part) {
        if (part.one === null ? char !== '/' : part.one === char) reach(at + 1)
      } else if (part.any === 'within') {
        if (char !== '/') reach(at)
      } else if (part.any === 'across') reach(at)
      else {
        // In the middle of a folder name: only its slash ends it.
        if (char === '/') reach(at + 1)
        if (reachedAt[at] !== step) {
          reachedAt[at] = step
          next.push(at)
        }
      }
    }
    if (next.length === 0) return false
  }
  return reachedAt[parts.length] === step
}

function parse(pattern: string): Part[] {
  const parts: Part[] = []
  const chars = [...pattern]
  for (let i = 0; i < chars.length; i += 1) {
    const char = chars[i] ?? ''
    if (char === '?') parts.push({ one: null })
    else if (char !== '*') parts.push({ one: char })
    else {
      const begins = i === 0 || chars[i - 1] === '/'
      const first = i
      while (chars[i + 1] === '*') i += 1
      if (i === first) parts.push({ any: 'within' })
      else if (begins && chars[i + 1] === '/') {
        parts.push({ any: 'folders' })
        i += 1
      } else parts.push({ any: 'across' })
    }
  }
  return parts
}
