// Regular expressions from schemas that strangers send, in time proportional to text × pattern. The built-in engine goes back
// and tries again, which a pattern such as `^(a+)+$` turns into minutes for thirty characters; here all places in the pattern
// that the text can have reached are followed at once. It says whether a pattern is found, as JSON Schema asks, and no more.

export interface LinearPattern {
  /** `spend` is told of the work done, step by step, and may throw to end it. */
  foundIn(text: string, spend: (work: number) => void): boolean
}

type Test = (char: string) => boolean
type Assertion = 'start' | 'end' | 'word_edge' | 'no_word_edge'

type Tree =
  | { is: 'char'; test: Test }
  | { is: 'assert'; that: Assertion }
  | { is: 'sequence'; parts: Tree[] }
  | { is: 'choice'; parts: Tree[] }
  | { is: 'repeat'; part: Tree; min: number; max: number }

const nothing: Tree = { is: 'sequence', parts: [] }

type State =
  | { is: 'char'; test: Test; next: number }
  | { is: 'assert'; that: Assertion; next: number }
  | { is: 'fork'; next: number[] }
  | { is: 'found' }

/** Groups are read by recursion; a pattern that people wrote is far below this. */
const MAX_SOURCE = 1_000
/** Counted repetitions are written out, so `(x{1000}){1000}` and `((){1000}){1000}` must end somewhere. */
const MAX_STATES = 5_000
const MAX_WRITES = 50_000

/**
 * Null: a pattern that cannot be followed like this (it looks around anywhere but at its beginning, refers back, counts too
 * far or is too long). Throws a `SyntaxError` for what is no regular expression.
 */
export function createLinearPattern(source: string): LinearPattern | null {
  const flags = flagsFor(source)
  if (source.length > MAX_SOURCE) return null
  const { tree, looks } = parse(source, flags)
  if (tree === null) return null
  const states = build(tree)
  if (states === null) return null
  const ahead: { states: State[]; wanted: boolean }[] = []
  for (const look of looks) {
    const built = build({ is: 'sequence', parts: [{ is: 'assert', that: 'start' }, look.tree] })
    if (built === null) return null
    ahead.push({ states: built, wanted: look.wanted })
  }
  return {
    foundIn(text, spend) {
      const chars = flags === 'u' ? [...text] : text.split('')
      return ahead.every((look) => isFound(look.states, chars, spend) === look.wanted) && isFound(states, chars, spend)
    },
  }
}

/** Schemas are meant to be Unicode-aware; many are written for engines that are laxer about escapes. */
function flagsFor(source: string): string {
  try {
    new RegExp(source, 'u')
    return 'u'
  } catch {
    new RegExp(source)
    return ''
  }
}

interface Parsed {
  tree: Tree | null
  /** What must, or must not, lie at the very beginning: `^(?!…)`. */
  looks: { tree: Tree; wanted: boolean }[]
}

/** Relies on the source being a valid expression. */
function parse(source: string, flags: string): Parsed {
  let at = 0
  let readable = true
  /** Up to here the source is `^` and what it looks ahead to from there. */
  let lookedUntil = source[0] === '^' ? 1 : -1
  const looks: Parsed['looks'] = []
  const one = (text: string): Tree => {
    const test = new RegExp(`^${text}$`, flags)
    return { is: 'char', test: (char) => test.test(char) }
  }
  /** The next code point, or code unit where the pattern is not Unicode-aware. */
  const peek = (): string => (flags === 'u' ? String.fromCodePoint(source.codePointAt(at) ?? 0) : source.charAt(at))

  const choice = (): Tree => {
    const parts = [sequence()]
    while (source[at] === '|') {
      at += 1
      parts.push(sequence())
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { is: 'choice', parts }
  }
  const sequence = (): Tree => {
    const parts: Tree[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(repeated(atom()))
    return { is: 'sequence', parts }
  }
  const repeated = (part: Tree): Tree => {
    const counted = /^(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/.exec(source.slice(at, at + 40))
    if (counted === null) return part
    at += counted[0].length
    const [text, from, comma, to] = counted
    if (from === undefined) {
      return { is: 'repeat', part, min: text[0] === '+' ? 1 : 0, max: text[0] === '?' ? 1 : Number.POSITIVE_INFINITY }
    }
    const min = Number(from)
    const max = comma === undefined ? min : to === undefined || to === '' ? Number.POSITIVE_INFINITY : Number(to)
    return { is: 'repeat', part, min, max }
  }
  const atom = (): Tree => {
    const char = peek()
    if (char === '(') return group()
    if (char === '[') return characterClass()
    if (char === '\\') return escaped()
    at += char.length
    if (char === '^') return { is: 'assert', that: 'start' }
    if (char === '$') return { is: 'assert', that: 'end' }
    if (char === '.') return one('.')
    return { is: 'char', test: (other) => other === char }
  }
  const group = (): Tree => {
    const opening = /^\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]+:))?/.exec(source.slice(at, at + 200))?.[0] ?? '('
    const begins = at === lookedUntil
    at += opening.length
    const inner = choice()
    at += 1
    if (opening === '(' || opening === '(?:' || /^\(\?<[^=!]/.test(opening)) return inner
    if (begins && (opening === '(?=' || opening === '(?!') && !/[*+?{]/.test(source.charAt(at))) {
      looks.push({ tree: inner, wanted: opening === '(?=' })
      lookedUntil = at
    } else readable = false
    return nothing
  }
  const characterClass = (): Tree => {
    const from = at
    at += 1
    while (source[at] !== ']') at += source[at] === '\\' ? 2 : 1
    at += 1
    return one(source.slice(from, at))
  }
  const escaped = (): Tree => {
    const long = /^\\(?:[pPu]\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[a-zA-Z]|k<[^>]*>|[1-9]\d*)/.exec(
      source.slice(at),
    )
    const text = long?.[0] ?? source.slice(at, at + 2)
    at += text.length
    if (text === '\\b') return { is: 'assert', that: 'word_edge' }
    if (text === '\\B') return { is: 'assert', that: 'no_word_edge' }
    // What refers back, and what means something else to the laxer engine.
    if (/^\\(?:k<|[1-9])/.test(text) || (flags === '' && text.includes('{'))) {
      readable = false
      return nothing
    }
    return one(text)
  }

  const tree = choice()
  // With a choice at the top, what the first branch begins with does not hold for the others.
  if (looks.length > 0 && tree.is === 'choice') readable = false
  return { tree: readable ? tree : null, looks }
}

/** The tree as states, the last first: each is built knowing what comes after it. */
function build(tree: Tree): State[] | null {
  const states: State[] = [{ is: 'found' }]
  let full = false
  let writes = 0
  const add = (state: State): number => {
    if (states.length >= MAX_STATES) full = true
    else states.push(state)
    return states.length - 1
  }
  const write = (part: Tree, next: number): number => {
    writes += 1
    if (writes > MAX_WRITES) full = true
    if (full) return next
    switch (part.is) {
      case 'char':
        return add({ is: 'char', test: part.test, next })
      case 'assert':
        return add({ is: 'assert', that: part.that, next })
      case 'sequence':
        return part.parts.reduceRight((after, one) => write(one, after), next)
      case 'choice':
        return add({ is: 'fork', next: part.parts.map((one) => write(one, next)) })
      case 'repeat': {
        let after = next
        if (part.max === Number.POSITIVE_INFINITY) {
          const ways = [next]
          after = add({ is: 'fork', next: ways })
          ways.push(write(part.part, after))
        } else {
          for (let i = part.min; i < part.max && !full; i += 1) {
            after = add({ is: 'fork', next: [next, write(part.part, after)] })
          }
        }
        for (let i = 0; i < part.min && !full; i += 1) after = write(part.part, after)
        return after
      }
    }
  }
  const first = write(tree, 0)
  if (full) return null
  add({ is: 'fork', next: [first] })
  return full ? null : states
}

const isWord = (char: string | undefined): boolean => char !== undefined && /^\w$/.test(char)

function isFound(states: readonly State[], chars: readonly string[], spend: (work: number) => void): boolean {
  const seen = new Uint32Array(states.length)
  let current: number[] = []
  for (let at = 0; at <= chars.length; at += 1) {
    // A match may begin anywhere, so each place is also a first one.
    const open = [...current, states.length - 1]
    const next: number[] = []
    spend(open.length + 1)
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (seen[state] === at + 1) continue
      seen[state] = at + 1
      const one = states[state]
      if (one === undefined) continue
      if (one.is === 'found') return true
      if (one.is === 'fork') {
        spend(one.next.length)
        open.push(...one.next)
      } else if (one.is === 'assert') {
        if (holds(one.that, chars, at)) open.push(one.next)
      } else {
        spend(1)
        const char = chars[at]
        if (char !== undefined && one.test(char)) next.push(one.next)
      }
    }
    current = next
  }
  return false
}

function holds(that: Assertion, chars: readonly string[], at: number): boolean {
  switch (that) {
    case 'start':
      return at === 0
    case 'end':
      return at === chars.length
    case 'word_edge':
      return isWord(chars[at - 1]) !== isWord(chars[at])
    case 'no_word_edge':
      return isWord(chars[at - 1]) === isWord(chars[at])
  }
}
