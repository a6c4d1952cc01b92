// Tests one character against a part of a pattern: `a`, `.`, `\d`, `[^a-z]`. It does so without the built-in engine, which takes longer to
// prepare an expression for a single character than we take to read a whole schema.

/** Takes a code unit if the pattern is not Unicode-aware, otherwise a code point. */
export type CharTest = (code: number) => boolean

const LINE_ENDS = new Set([0x0a, 0x0d, 0x2028, 0x2029])
const SPACES = new Set([
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff,
])

const isDigit: CharTest = (code) => code >= 48 && code <= 57
const isSpace: CharTest = (code) => SPACES.has(code) || (code >= 0x2000 && code <= 0x200a)
export const isWord: CharTest = (code) =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || isDigit(code) || code === 95
const not =
  (test: CharTest): CharTest =>
  (code) =>
    !test(code)

export const anyChar: CharTest = (code) => !LINE_ENDS.has(code)
export const sameChar =
  (char: number): CharTest =>
  (code) =>
    code === char

const kinds: Readonly<Record<string, CharTest>> = {
  d: isDigit,
  D: not(isDigit),
  s: isSpace,
  S: not(isSpace),
  w: isWord,
  W: not(isWord),
}
const controls: Readonly<Record<string, number>> = { f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b }

/** Reads an escape that stands for one character or for a kind of characters. Null for an escape that is not known here. */
export function readEscape(text: string): { kind: CharTest } | { code: number } | null {
  const letter = text.charAt(1)
  if (text.length === 2) {
    const kind = kinds[letter]
    if (kind !== undefined) return { kind }
    if (letter === '0') return { code: 0 }
    // Without the `u` flag, what these mean depends on what follows.
    if (/[a-zA-Z1-9]/.test(letter)) {
      const code = controls[letter]
      return code === undefined ? null : { code }
    }
    return { code: letter.charCodeAt(0) }
  }
  if (letter === 'c') return { code: text.charCodeAt(2) % 32 }
  const pair = /^\\u([0-9a-f]{4})\\u([0-9a-f]{4})$/i.exec(text)
  if (pair !== null) {
    const [high = 0, low = 0] = pair.slice(1).map((digits) => Number.parseInt(digits, 16))
    return { code: 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00) }
  }
  const [, digits] = /^\\(?:x|u\{?)([0-9a-f]+)\}?$/i.exec(text) ?? []
  return digits === undefined ? null : { code: Number.parseInt(digits, 16) }
}

// First the pair of escapes that is one character in a Unicode-aware pattern.
const LONG_ESCAPE =
  /\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|[pPu]\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*)/y
const LAX_ESCAPE = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*)/y

/** The whole escape that begins at `at`. */
export function escapeAt(source: string, at: number, unicode: boolean): string {
  const long = unicode ? LONG_ESCAPE : LAX_ESCAPE
  long.lastIndex = at
  const found = long.exec(source)?.[0]
  if (found !== undefined) return found
  return `\\${unicode ? String.fromCodePoint(source.codePointAt(at + 1) ?? 0) : source.charAt(at + 1)}`
}

/** Reads `[…]`, which must be valid. Null if something in it is not known here. */
export function readClass(text: string, unicode: boolean): CharTest | null {
  const negated = text[1] === '^'
  const end = text.length - 1
  let at = negated ? 2 : 1
  const known = new Set<CharTest>()
  const ranges: [number, number][] = []

  const atom = (): ReturnType<typeof readEscape> => {
    if (text[at] !== '\\') {
      const code = (unicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? 0
      at += code > 0xffff ? 2 : 1
      return { code }
    }
    const escaped = escapeAt(text, at, unicode)
    at += escaped.length
    if (escaped === '\\b') return { code: 8 }
    // With digits after it, it would be an octal number.
    if (escaped === '\\0' && !unicode) return null
    return readEscape(escaped)
  }
  const add = (one: { kind: CharTest } | { code: number }): void => {
    if ('kind' in one) known.add(one.kind)
    else ranges.push([one.code, one.code])
  }
  while (at < end) {
    const from = atom()
    if (from === null) return null
    if (text[at] !== '-' || at + 1 >= end) {
      add(from)
      continue
    }
    at += 1
    const to = atom()
    if (to === null) return null
    if ('code' in from && 'code' in to) ranges.push([from.code, to.code])
    else {
      // `[\w-.]`: without the `u` flag, the hyphen is a character.
      add(from)
      ranges.push([45, 45])
      add(to)
    }
  }
  const inRanges = oneOf(ranges)
  const others = [...known]
  const holds: CharTest = (code) => inRanges(code) || others.some((test) => test(code))
  return negated ? not(holds) : holds
}

/** A thousand ranges cost about as much as one, because a character must cost the same in every pattern. */
function oneOf(ranges: [number, number][]): CharTest {
  const apart: [number, number][] = []
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = apart.at(-1)
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to)
    else apart.push([from, to])
  }
  return (code) => {
    let low = 0
    let high = apart.length - 1
    while (low <= high) {
      const middle = (low + high) >> 1
      const [from, to] = apart[middle] ?? [0, 0]
      if (code < from) high = middle - 1
      else if (code > to) low = middle + 1
      else return true
    }
    return false
  }
}

/** Asks the built-in engine, which knows every kind of character. Preparing it takes long. */
export function builtInTest(text: string, unicode: boolean): CharTest {
  const expression = new RegExp(`^${text}$`, unicode ? 'u' : '')
  return (code) => expression.test(String.fromCodePoint(code))
}
