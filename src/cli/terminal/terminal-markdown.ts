// Renders Markdown for a terminal while it arrives. Text whose meaning is still open is held back, at most to the end of its line.

import type { Style } from './style.ts'

/** A mark that is not closed within this many characters is plain text. */
const MAX_HELD = 500

/** The start of a line that may become a heading, a list, a quotation or a fence. */
const UNDECIDED = /^\s*(?:#{0,6}|[-*+_]|\d{1,9}[.)]?|>|`{1,}|~{1,})?\s?$/
/** These need the whole line: `---`, `***`, fences with a language, headings. */
const WHOLE_LINE = /^ {0,3}(?:#{1,6} |`{3}|~{3}|(?:[-*_] *){2,}$)/
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/
const HEADING = /^ {0,3}#{1,6} +(.*?)(?: +#+)? *$/
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/
const BULLET = /^(\s*)[-*+] +/
const QUOTE = /^ {0,3}> ?/

const PLAIN = /[^\\`*_[\n]+/y
const CODE = /(`+)((?:(?!\1)[^\n]|`(?=\1))*?[^`\n])\1(?!`)/y
const STRONG = /(\*\*|__)(?=\S)((?:(?!\1)[^\n])*[^\s\n])\1/y
const EMPHASIS = /([*_])(?=[^\s*_])((?:(?!\1)[^\n])*[^\s*_\n])\1(?![*_])/y
const LINK = /\[([^\][\n]+)\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)?)(?: +"[^"\n]*")?\)/y
/** The start of a link that is not complete yet. */
const LINK_BEGUN = /\[[^\][\n]*(?:\](?:\((?:[^()\n]|\([^()\n]*(?:\)|$))*)?)?$/y

export function createTerminalMarkdown(style: Style) {
  let held = ''
  let fence: string | null = null
  let atLineStart = true
  /** The character before the held text. */
  let before = '\n'

  /** `isLast`: nothing follows that could complete a mark. */
  function inline(text: string, isLast: boolean): { shown: string; rest: string } {
    let shown = ''
    let at = 0
    const match = (pattern: RegExp): RegExpExecArray | null => {
      pattern.lastIndex = at
      return pattern.exec(text)
    }
    const take = (raw: string, painted: string) => {
      shown += painted
      at += raw.length
      before = raw.at(-1) ?? before
    }
    while (at < text.length) {
      const plain = match(PLAIN)
      if (plain !== null) {
        take(plain[0], plain[0])
        continue
      }
      const char = text[at] ?? ''
      if (char === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
        take(text.slice(at, at + 2), text[at + 1] ?? '')
        continue
      }
      // Inside a word, an underscore is just an underscore.
      const opens = char !== '_' || !/\w/.test(before)
      const code = char === '`' ? match(CODE) : null
      const strong = opens && (char === '*' || char === '_') ? match(STRONG) : null
      const emphasis = opens && (char === '*' || char === '_') ? match(EMPHASIS) : null
      const link = char === '[' ? match(LINK) : null
      // A mark at the end may be the first half of a longer one.
      const mayGrow = (raw: string) => !isLast && at + raw.length === text.length
      if (code !== null && !mayGrow(code[0])) take(code[0], style.cyan(code[2] ?? ''))
      else if (strong !== null) take(strong[0], style.bold(nested(strong[2] ?? '')))
      else if (emphasis !== null && !mayGrow(emphasis[0])) take(emphasis[0], style.italic(nested(emphasis[2] ?? '')))
      else if (link !== null) take(link[0], linkText(link[1] ?? '', link[2] ?? ''))
      else if (!isLast && text.length - at < MAX_HELD && opens && (char !== '[' || match(LINK_BEGUN) !== null)) break
      else {
        const run = char === '\\' ? char : (/^([`*_[])\1*/.exec(text.slice(at))?.[0] ?? char)
        take(run, run)
      }
    }
    return { shown, rest: text.slice(at) }
  }

  function nested(text: string): string {
    const outside = before
    before = ' '
    const { shown } = inline(text, true)
    before = outside
    return shown
  }

  /** Shows the address: the text of a link may not match where it leads. */
  const linkText = (text: string, url: string): string =>
    text === url ? style.underline(url) : `${style.underline(nested(text))} (${style.cyan(url)})`

  /** Returns the mark of the line as it is printed. Null: the whole line was a mark. */
  function beginLine(line: string): string | null {
    if (fence !== null) {
      const closing = FENCE.exec(line)
      if (closing?.[1]?.startsWith(fence) && closing[2]?.trim() === '') fence = null
      else return `  ${style.cyan(line)}`
      return null
    }
    const opening = FENCE.exec(line)
    if (opening !== null) {
      fence = opening[1] ?? ''
      return null
    }
    if (RULE.test(line)) return style.dim('────────────────')
    const heading = HEADING.exec(line)
    if (heading !== null) return style.bold(nested(heading[1] ?? ''))
    return null
  }

  const isWhole = (line: string): boolean => fence !== null || FENCE.test(line) || RULE.test(line) || HEADING.test(line)

  /** The mark at the start of a line. */
  function openLine(text: string): { shown: string; rest: string } {
    const bullet = BULLET.exec(text)
    if (bullet !== null) return { shown: `${bullet[1] ?? ''}• `, rest: text.slice(bullet[0].length) }
    const quote = QUOTE.exec(text)
    if (quote !== null) return { shown: style.dim('│ '), rest: text.slice(quote[0].length) }
    return { shown: '', rest: text }
  }

  function add(text: string, isLast: boolean): string {
    held += text
    let out = ''
    while (held !== '') {
      const end = held.indexOf('\n')
      const line = end === -1 ? held : held.slice(0, end)
      const isComplete = end !== -1 || isLast
      if (atLineStart) {
        if (!isComplete && (fence !== null || UNDECIDED.test(line) || WHOLE_LINE.test(line))) break
        if (isComplete && isWhole(line)) {
          const shown = beginLine(line)
          out += shown === null ? '' : `${shown}${end === -1 ? '' : '\n'}`
          held = end === -1 ? '' : held.slice(end + 1)
          continue
        }
        const opened = openLine(line)
        out += opened.shown
        held = opened.rest + held.slice(line.length)
        atLineStart = false
        before = '\n'
        if (held === '') break
      }
      const lineEnd = held.indexOf('\n')
      const { shown, rest } = inline(lineEnd === -1 ? held : held.slice(0, lineEnd), lineEnd !== -1 || isLast)
      out += shown
      if (lineEnd === -1) {
        held = rest
        break
      }
      out += '\n'
      held = held.slice(lineEnd + 1)
      atLineStart = true
    }
    return out
  }

  return {
    /** Returns what can be printed now. The text must be safe to print; only styles are added to it. */
    add: (text: string): string => add(text, false),
    /** Returns what was still held back. The next text begins a new line. */
    end(): string {
      const rest = add('', true)
      held = ''
      fence = null
      atLineStart = true
      return rest
    },
  }
}
