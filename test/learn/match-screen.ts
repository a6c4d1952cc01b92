// Compares what a page shows with what is on a screen. “…” stands for whatever was left out. What is different every time is compared by
// its shape: tokens, ids, seconds, times of day, dates, the version.

interface Shape {
  /** How the page writes it. */
  shown: RegExp
  /** How it really looks. */
  real: string
  /** A command that writes it means the real one. */
  isKept: boolean
}

const shapes: readonly Shape[] = [
  { shown: /qd_[\w-]+…?/, real: 'qd_[\\w-]{43}', isKept: true },
  { shown: /#code=[\w-]*…?/, real: '#code=[\\w-]+', isKept: false },
  { shown: /[\da-f]{8}-[\da-f-]{27}/, real: '[\\da-f]{8}-[\\da-f-]{27}', isKept: true },
  { shown: /\b01[\dA-Z]{24}\b/, real: '[\\dA-Z]{26}', isKept: true },
  { shown: /\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{4}\b/, real: '[\\da-f]{4}', isKept: true },
  { shown: /\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{12}\b/, real: '[\\da-f]{12}', isKept: true },
  { shown: /\b20\d\d-\d\d-\d\d\b/, real: '20\\d\\d-\\d\\d-\\d\\d', isKept: false },
  { shown: /\b\d\d:\d\d(?::\d\d)?\b/, real: '\\d\\d:\\d\\d(?::\\d\\d)?', isKept: false },
  { shown: /\d+\.\d s\b/, real: '\\d+\\.\\d s', isKept: false },
  { shown: /\bQuarterdeck \d\S*/, real: 'Quarterdeck \\d\\S*', isKept: false },
  { shown: /…/, real: '.*?', isKept: false },
]

const ANY_SHAPE = new RegExp(shapes.map(({ shown }) => `(${shown.source})`).join('|'), 'g')

/** What the page writes, and what it is here. */
export type Kept = Map<string, string>

/** Adds to `kept` and returns true if the screen shows what is expected: `whole`, or anywhere in it. */
export function isOnScreen(
  expected: string,
  lines: readonly string[],
  kept: Kept,
  { whole }: { whole: boolean },
): boolean {
  const names: string[] = []
  const pattern = expected
    .trimEnd()
    .split('\n')
    // A line of its own stands for any number of lines.
    .map((line) => (line.trim() === '…' ? '(?:.*\\n)*?' : `${lineOf(line.trimEnd(), names)}\\n`))
    .join('')
  const all = whole ? `^\\n*${pattern}\\n*$` : `(?:^|\\n)${pattern}`
  const found = new RegExp(all).exec(`${lines.join('\n')}\n`)
  if (found === null) return false
  for (const [index, name] of names.entries()) kept.set(name, found[index + 1] ?? '')
  return true
}

function lineOf(line: string, names: string[]): string {
  let pattern = ''
  let from = 0
  for (const match of line.matchAll(ANY_SHAPE)) {
    pattern += escaped(line.slice(from, match.index))
    from = match.index + match[0].length
    const shape = shapes.find((_, index) => match[index + 1] !== undefined)
    if (shape === undefined) continue
    const before = names.indexOf(match[0])
    if (!shape.isKept) pattern += shape.real
    // The same word in one block means the same thing.
    else if (before !== -1) pattern += `\\${before + 1}`
    else {
      names.push(match[0])
      pattern += `(${shape.real})`
    }
  }
  return pattern + escaped(line.slice(from))
}

/** The columns of a table are as wide as what is in them. */
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/(?<=\S) {2,}/g, ' {2,}')
