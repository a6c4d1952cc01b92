// Strict JSON that knows the place of each value. JSON.parse does not always say where a mistake is, and of two equal keys it silently
// keeps the last: a person who reads the file would take the first one for what counts.

export type PlacedJson = { at: number } & (
  | { kind: 'plain'; value: string | number | boolean | null }
  | { kind: 'list'; items: PlacedJson[] }
  | { kind: 'object'; members: PlacedMember[] }
)

interface PlacedMember {
  name: string
  /** Offset of the name. */
  at: number
  value: PlacedJson
}

type ParsedJson = { ok: true; root: PlacedJson } | { ok: false; at: number; message: string }

const MAX_DEPTH = 8
const MAX_VALUES = 2_000

const BLANKS = /[ \t\n\r]*/y
const TEXT = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/uy
const WORD = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y

class Mistake extends Error {
  readonly at: number

  constructor(at: number, message: string) {
    super(message)
    this.at = at
  }
}

/** Never throws. Takes time in proportion to the text. */
export function parsePlacedJson(text: string): ParsedJson {
  try {
    return { ok: true, root: parse(text) }
  } catch (error) {
    if (error instanceof Mistake) return { ok: false, at: error.at, message: error.message }
    throw error
  }
}

function parse(text: string): PlacedJson {
  let at = 0
  let values = 0

  const skipBlanks = (): void => {
    BLANKS.lastIndex = at
    BLANKS.test(text)
    at = BLANKS.lastIndex
  }
  const take = (token: RegExp): string | null => {
    token.lastIndex = at
    const found = token.exec(text)?.[0] ?? null
    if (found !== null) at += found.length
    return found
  }
  const takeChar = (char: string): boolean => {
    skipBlanks()
    if (text[at] !== char) return false
    at += 1
    return true
  }

  function value(depth: number): PlacedJson {
    skipBlanks()
    const start = at
    values += 1
    if (depth > MAX_DEPTH) throw new Mistake(at, 'the file is nested too deeply.')
    if (values > MAX_VALUES) throw new Mistake(at, `the file has more than ${MAX_VALUES} values.`)
    if (takeChar('{')) return { at: start, kind: 'object', members: members(depth) }
    if (takeChar('[')) return { at: start, kind: 'list', items: items(depth) }
    const token = text[at] === '"' ? take(TEXT) : take(WORD)
    if (token === null) throw new Mistake(at, whatIsWrong(text, at, 'a value'))
    return { at: start, kind: 'plain', value: JSON.parse(token) }
  }

  function members(depth: number): PlacedMember[] {
    const found: PlacedMember[] = []
    const names = new Set<string>()
    if (takeChar('}')) return found
    for (;;) {
      skipBlanks()
      const start = at
      const token = take(TEXT)
      if (token === null) throw new Mistake(at, whatIsWrong(text, at, 'a key in double quotes'))
      const name: string = JSON.parse(token)
      if (names.has(name)) throw new Mistake(start, 'this key appears twice. Keep one of them.')
      names.add(name)
      if (!takeChar(':')) throw new Mistake(at, whatIsWrong(text, at, 'a colon'))
      found.push({ name, at: start, value: value(depth + 1) })
      if (takeChar('}')) return found
      if (!takeChar(',')) throw new Mistake(at, whatIsWrong(text, at, 'a comma or }'))
    }
  }

  function items(depth: number): PlacedJson[] {
    const found: PlacedJson[] = []
    if (takeChar(']')) return found
    for (;;) {
      found.push(value(depth + 1))
      if (takeChar(']')) return found
      if (!takeChar(',')) throw new Mistake(at, whatIsWrong(text, at, 'a comma or ]'))
    }
  }

  const root = value(0)
  skipBlanks()
  if (at < text.length) throw new Mistake(at, 'the file goes on after the end of its value. Remove the rest.')
  return root
}

function whatIsWrong(text: string, at: number, expected: string): string {
  if (at >= text.length) return `the file ends here, but ${expected} is missing.`
  const rest = text.slice(at, at + 2)
  if (rest === '//' || rest === '/*') return 'JSON has no comments. Remove it.'
  if (rest[0] === '"') return 'this text is not valid JSON: a quote, a line break or a backslash in it is wrong.'
  if (rest[0] === "'") return 'JSON needs double quotes.'
  if (rest[0] === '}' || rest[0] === ']') return `expected ${expected}. Remove the comma before it.`
  return `this is not valid JSON: expected ${expected}.`
}
