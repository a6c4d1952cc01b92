// Regular expressions from schemas that strangers send, in time proportional to text × pattern. The built-in engine goes back
// and tries again, which a pattern such as `^(a+)+$` turns into minutes for thirty characters; here all places in the pattern
// that the text can have reached are followed at once. It says whether a pattern is found, as JSON Schema asks, and no more.
// Our own rather than RE2: its ports refuse look-aheads, `\u00e4` and repetitions above 1,000, all of which schemas have, so that the
// parser would be ours all the same; and what is bounded here is counted before it is built.

import { createSchemaBudget, type SchemaBudget } from './budget.ts'
import { type CharTest, isWord } from './char-test.ts'
import { type Assertion, type PatternTree, parsePattern, statesOf } from './pattern-tree.ts'

export interface LinearPattern {
  /** `spend` is told of the work before it is done, step by step, and may throw to end it. */
  foundIn(text: string, spend: (work: number) => void): boolean
}

type State =
  | { is: 'char'; test: CharTest; next: number }
  | { is: 'assert'; that: Assertion; next: number }
  | { is: 'fork'; next: number[] }
  | { is: 'found' }

/** Groups are read by recursion; a pattern that people wrote is far below this. */
const MAX_SOURCE = 1_000
/** Counted repetitions are written out, so `(x{1000}){1000}` and `((){1000}){1000}` must end somewhere. */
const MAX_STATES = 5_000
/** What preparing the built-in engine for one character costs, in states. */
const BUILT_IN_STATES = 300
/** What `\p{L}` costs the built-in engine to read, in states: it makes a list of hundreds of ranges each time. */
const PROPERTY_STATES = 800

/**
 * Null: a pattern that cannot be followed like this (it looks around anywhere but at its beginning, refers back, counts too
 * far, is too long, or the budget is spent). Throws a `SyntaxError` for what is no regular expression.
 */
export function createLinearPattern(source: string, budget: SchemaBudget = createSchemaBudget()): LinearPattern | null {
  if (!budget.pattern() || source.length > MAX_SOURCE) return null
  const properties = source.match(/\\p\{/gi)?.length ?? 0
  if (!budget.states(source.length + properties * PROPERTY_STATES)) return null
  const unicode = isUnicode(source)
  const parsed = parsePattern(source, unicode)
  if (parsed === null) return null
  const { tree, looks, builtIns } = parsed
  const size = looks.reduce((sum, look) => sum + statesOf(look.tree) + 3, statesOf(tree) + 2)
  if (size > MAX_STATES || !budget.states(size + builtIns * BUILT_IN_STATES)) return null

  let built: { main: State[]; ahead: { states: State[]; wanted: boolean }[] } | null = null
  return {
    foundIn(text, spend) {
      if (built === null) {
        // Not before it is needed: most schemas are read to be shown to a model.
        spend(size)
        const ahead = looks.map(({ tree: look, wanted }) => ({
          states: build({ is: 'sequence', parts: [{ is: 'assert', that: 'start' }, look] }),
          wanted,
        }))
        built = { main: build(tree), ahead }
      }
      const { main, ahead } = built
      return (
        ahead.every((look) => isFound(look.states, text, unicode, spend) === look.wanted) &&
        isFound(main, text, unicode, spend)
      )
    },
  }
}

/** Schemas are meant to be Unicode-aware; many are written for engines that are laxer about escapes. */
function isUnicode(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    new RegExp(source)
    // The laxer engine takes what it does not know for plain letters, and nothing would ever fit.
    if (FOREIGN.test(source)) throw new SyntaxError('it is written for another language')
    return false
  }
}

/** `\A`, `\Z` and `\z` for the ends of a text, and `[[:alpha:]]`. */
const FOREIGN = /^(?:\\.|[^\\])*?(?:\\[AZz]|\[\[:\^?[a-z]+:\])/s

/** The tree as states, the last first: each is built knowing what comes after it. */
function build(tree: PatternTree): State[] {
  const states: State[] = [{ is: 'found' }]
  const add = (state: State): number => states.push(state) - 1
  const write = (part: PatternTree, next: number): number => {
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
          for (let i = part.min; i < part.max; i += 1) {
            after = add({ is: 'fork', next: [next, write(part.part, after)] })
          }
        }
        for (let i = 0; i < part.min; i += 1) after = write(part.part, after)
        return after
      }
    }
  }
  add({ is: 'fork', next: [write(tree, 0)] })
  return states
}

/** Beyond either end of the text. */
const NONE = -1

function isFound(states: readonly State[], text: string, unicode: boolean, spend: (work: number) => void): boolean {
  // The list of what was seen is made anew for each text.
  spend(states.length >> 5)
  const seen = new Uint32Array(states.length)
  let current: number[] = []
  let before = NONE
  for (let at = 0, round = 1; ; round += 1) {
    const code = at === text.length ? NONE : ((unicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? NONE)
    // A match may begin anywhere, so each place is also a first one.
    const open = [...current, states.length - 1]
    const next: number[] = []
    spend(open.length + 1)
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (seen[state] === round) continue
      seen[state] = round
      const one = states[state]
      if (one === undefined) continue
      if (one.is === 'found') return true
      if (one.is === 'fork') {
        spend(one.next.length)
        for (const way of one.next) open.push(way)
      } else {
        spend(1)
        if (one.is === 'assert') {
          if (holds(one.that, before, code)) open.push(one.next)
        } else if (code !== NONE && one.test(code)) next.push(one.next)
      }
    }
    if (code === NONE) return false
    current = next
    before = code
    at += code > 0xffff ? 2 : 1
  }
}

function holds(that: Assertion, before: number, code: number): boolean {
  switch (that) {
    case 'start':
      return before === NONE
    case 'end':
      return code === NONE
    case 'word_edge':
      return isWord(before) !== isWord(code)
    case 'no_word_edge':
      return isWord(before) === isWord(code)
  }
}
