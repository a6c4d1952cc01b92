import type { TestCheck } from '../domain/agent/test-case.ts'
import { ServerError } from '../domain/errors.ts'
import { unreachable } from '../domain/unreachable.ts'
import { createJsonCheck } from '../json/json-schema.ts'
import type { Finding } from './case-result.ts'
import { type Judge, type JudgedAnswer, parseFencedJson } from './judge.ts'

/** What the checks of a case look at. */
interface CheckedConversation extends Pick<JudgedAnswer, 'conversation'> {
  /** Everything that the agent said in the last turn. */
  answer: string
  /** The last message of the answer, after the last tool call. */
  finalMessage: string
}

/** The time of a pattern can grow with the square of the text or faster, and nothing can stop it. */
const MAX_REGEX_CHARS = 100_000

/** What is wrong with the answer, or null. Throws like the judge, and `config_invalid` when there is no judge but the check needs one. */
export async function checkAnswer(
  check: TestCheck,
  checked: CheckedConversation,
  judge: Judge | null,
  signal: AbortSignal,
): Promise<Finding | null> {
  const { answer } = checked
  const unless = (ok: boolean, expected: string, found = quoted(answer)): Finding | null =>
    ok ? null : { check: check.check, expected, found }
  switch (check.check) {
    case 'contains':
      return unless(holds(answer, check), `an answer with ${quoted(check.text)}${caseNote(check)}`)
    case 'not_contains':
      return unless(!holds(answer, check), `an answer without ${quoted(check.text)}${caseNote(check)}`)
    case 'regex': {
      const expected = `an answer that matches /${check.pattern}/${check.flags}`
      if (answer.length > MAX_REGEX_CHARS) {
        return unless(false, expected, `${answer.length} characters; a pattern is tried on at most ${MAX_REGEX_CHARS}`)
      }
      return unless(patternOf(check).test(answer), expected)
    }
    case 'json_schema': {
      const expected = 'JSON that satisfies the schema'
      const value = parseFencedJson(checked.finalMessage)
      if (value === undefined) return unless(false, expected, `not JSON: ${quoted(checked.finalMessage)}`)
      const verdict = createJsonCheck(check.schema).check(value)
      return verdict.ok ? null : unless(false, expected, verdict.problems.join('; '))
    }
    case 'similarity': {
      const measured = similarity(answer, check.truth)
      return unless(
        measured >= check.atLeast,
        `similarity of at least ${check.atLeast} to ${quoted(check.truth)}`,
        `${measured.toFixed(2)}: ${quoted(answer)}`,
      )
    }
    case 'judge': {
      if (judge === null) throw noJudge()
      const { pass, reason } = await judge({ conversation: checked.conversation, ...check }, signal)
      const expected = check.criteria.trim() === '' ? `agreement with ${quoted(check.truth ?? '')}` : check.criteria
      return unless(pass, expected, `${reason} The answer: ${quoted(answer)}`)
    }
    default:
      return unreachable(check)
  }
}

const noJudge = (): ServerError =>
  new ServerError(
    'config_invalid',
    'The agent has no judge, and its own model does not judge itself. Write at the top of its file e.g. judge: ' +
      '{ provider: openai, name: gpt-5-mini }',
  )

const holds = (answer: string, { text, ignoreCase }: { text: string; ignoreCase: boolean }): boolean =>
  ignoreCase ? answer.toLowerCase().includes(text.toLowerCase()) : answer.includes(text)

const caseNote = ({ ignoreCase }: { ignoreCase: boolean }): string => (ignoreCase ? ' (upper or lower case)' : '')

/** `g` and `y` make a pattern continue where it stopped, but every check begins at the start. */
const patternOf = ({ pattern, flags }: { pattern: string; flags: string }): RegExp =>
  new RegExp(pattern, flags.replaceAll(/[gy]/g, ''))

const quoted = (text: string): string => JSON.stringify(text)

/** The time below grows with the square of the words, so longer texts are cut. */
const MAX_WORDS = 5_000

/**
 * How similar two texts are, from 0 to 1: ROUGE-L with equal weights. `lcs` is the length of the longest common subsequence of their
 * words (the same words in the same order, with others between them); `a` and `b` are the numbers of words:
 *
 *   precision = lcs / a,  recall = lcs / b,  F1 = 2 · precision · recall / (precision + recall) = 2 · lcs / (a + b)
 *
 * Letter case, punctuation and spaces do not count. Words are split by Unicode's rules (UAX 29), which also work for Chinese and
 * Japanese. Two texts without words are equal. Only the first 5,000 words of each text count.
 */
export function similarity(one: string, other: string): number {
  const a = wordsOf(one)
  const b = wordsOf(other)
  if (a.length + b.length === 0) return 1
  return (2 * commonLength(a, b)) / (a.length + b.length)
}

function wordsOf(text: string): string[] {
  const words: string[] = []
  for (const { segment, isWordLike } of new Intl.Segmenter('en', { granularity: 'word' }).segment(text.normalize())) {
    if (isWordLike !== true) continue
    words.push(segment.toLowerCase())
    if (words.length === MAX_WORDS) break
  }
  return words
}

/** Length of the longest common subsequence. Keeps only one row of the table. */
function commonLength(a: readonly string[], b: readonly string[]): number {
  // Comparing numbers is faster than comparing texts, and there may be 25 million comparisons.
  const numbers = new Map<string, number>()
  const numberOf = (word: string): number => {
    const known = numbers.get(word) ?? numbers.size
    numbers.set(word, known)
    return known
  }
  const left = Uint32Array.from(a, numberOf)
  const right = Uint32Array.from(b, numberOf)
  const row = new Uint32Array(right.length + 1)
  for (const word of left) {
    let diagonal = 0
    for (let column = 1; column <= right.length; column += 1) {
      const above = row[column] ?? 0
      row[column] = right[column - 1] === word ? diagonal + 1 : Math.max(above, row[column - 1] ?? 0)
      diagonal = above
    }
  }
  return row[right.length] ?? 0
}
