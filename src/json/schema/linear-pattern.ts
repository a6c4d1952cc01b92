// Runs regular expressions from strangers' schemas in time proportional to text × pattern. The built-in engine backtracks, and a pattern
// such as `^(a+)+$` then takes minutes for thirty characters. Here, all places in the pattern that the text can have reached are followed
// at once. The answer is only whether the pattern is found, which is all that JSON Schema asks.
// Why not RE2: its ports refuse look-aheads, `\u00e4` and repetitions above 1,000, and schemas have all of these. We would need a parser
// anyway, and here the size of a pattern is counted before it is built.

import { createSchemaBudget, type SchemaBudget } from './budget.ts'
import { type CharTest, isWord } from './char-test.ts'
import { type Assertion, type PatternTree, parsePattern, statesOf } from './pattern-tree.ts'

export interface LinearPattern {
  /** `spend` is called before each step with its work, and may throw to end the search. */
  foundIn(text: string, spend: (work: number) => void): boolean
}

type State =
  | { is: 'char'; test: CharTest; next: number }
  | { is: 'assert'; that: Assertion; next: number }
  | { is: 'fork'; next: number[] }
  | { is: 'found' }

/** Groups are read by recursion. Patterns that people write are far shorter than this. */
const MAX_SOURCE = 1_000
/** Counted repetitions are written out, so `(x{1000}){1000}` and `((){1000}){1000}` must end somewhere. */
const MAX_STATES = 5_000
/** The cost of preparing the built-in engine for one character, in states. */
const BUILT_IN_STATES = 300
/** The cost of reading `\p{L}` in the built-in engine, in states: it makes a list of hundreds of ranges each time. */
const PROPERTY_STATES = 800

/**
 * Null for a pattern that cannot be followed like this: it has a lookaround that is not at its beginning, a backreference, too many
 * repetitions, is too long, or the budget is spent. Throws a `SyntaxError` for what is not a regular expression.
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
        // Built only when it is needed: most schemas are only shown to a model.
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

/** Patterns in schemas should be Unicode-aware, but many are written for engines that are laxer about escapes. */
function isUnicode(source: string): boolean {
  try {
    new RegExp(source, 'u')
    return true
  } catch {
    new RegExp(source)
    // Without the `u` flag, unknown escapes are plain letters, and nothing would ever fit.
    if (FOREIGN.test(source)) throw new SyntaxError('it is written for another language')
    return false
  }
}

/** `\A`, `\Z` and `\z` for the ends of a text, and `[[:alpha:]]`. */
const FOREIGN = /^(?:\\.|[^\\])*?(?:\\[AZz]|\[\[:\^?[a-z]+:\])/s

/** Turns the tree into states, from last to first, because each state needs to know the next one. */
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
  // Each text needs a new list of the states that were seen.
  spend(states.length >> 5)
  const seen = new Uint32Array(states.length)
  let current: number[] = []
  let before = NONE
  for (let at = 0, round = 1; ; round += 1) {
    const code = at === text.length ? NONE : ((unicode ? text.codePointAt(at) : text.charCodeAt(at)) ?? NONE)
    // A match may begin anywhere, so the search also begins anew at each place.
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
