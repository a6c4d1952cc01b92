// A command line as text, split into arguments as a shell would, but without a shell: nothing is expanded, piped or redirected.

export type SplitCommandLine = { ok: true; argv: string[] } | { ok: false; problem: string }

const OPERATORS = new Set('|&;<>()`$')
const BLANK = /[ \t]/
/** What a backslash protects between double quotes. In front of anything else it stays, as in a shell. */
const ESCAPED_IN_QUOTES = /["\\$`]/

/**
 * Understands quotes and backslashes. A line with an operator, a substitution, a redirection or a line break is refused, because
 * without a shell it would not do what it says. Wildcards are ordinary characters.
 */
export function splitCommandLine(text: string): SplitCommandLine {
  if (/[\n\r\0]/.test(text)) return { ok: false, problem: 'it has a line break or a NUL character' }
  const argv: string[] = []
  /** Null between two arguments, so that "" is an argument. */
  let word: string | null = null
  let quote: '"' | "'" | null = null
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (quote === "'") {
      if (char === "'") quote = null
      else word += char
    } else if (char === '\\') {
      const next = text.charAt(at + 1)
      if (next === '') return { ok: false, problem: 'it ends with a backslash' }
      word = (word ?? '') + (quote === null || ESCAPED_IN_QUOTES.test(next) ? next : char + next)
      at += 1
    } else if (quote === '"') {
      if (char === '"') quote = null
      else if (char === '$' || char === '`') return { ok: false, problem: refusal(char) }
      else word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (OPERATORS.has(char)) {
      return { ok: false, problem: refusal(char) }
    } else if (BLANK.test(char)) {
      if (word !== null) argv.push(word)
      word = null
    } else {
      word = (word ?? '') + char
    }
  }
  if (quote !== null) return { ok: false, problem: `a ${quote} is never closed` }
  if (word !== null) argv.push(word)
  return argv.length === 0 || argv[0] === '' ? { ok: false, problem: 'it names no program' } : { ok: true, argv }
}

const refusal = (char: string): string => `it has ${char}, which only a shell understands`
