// The arguments of a call as a person reads them before they approve it: one per line, of limited length, with secrets masked and
// every character visible. What needs a closer look comes first.

import { lookalikeWarnings } from '../../domain/text/lookalike.ts'
import { looksSecret, MASKED, maskSecrets } from '../../domain/text/secret-name.ts'
import { visibleJson, visibleText } from '../../domain/text/visible-text.ts'

const MAX_LINES = 40
/** Characters of one value. If the whole text is too long, the next limit is tried, so that the first values do not push out the last. */
const MAX_VALUES = [500, 250, 100, 40]
const MAX_NAME = 100
/** A longer text is not checked for whether it needs quotes. */
const MAX_QUOTED = 500
const MAX_TEXT = 4_000

export function shownArguments(args: Record<string, unknown>): string {
  const entries = Object.entries(args)
  if (entries.length === 0) return 'without arguments'
  const warnings = lookalikeWarnings(maskSecrets(args)).map((text) => `${text}\n`)
  return warnings.join('') + argumentLines(entries)
}

function argumentLines(entries: readonly [name: string, value: unknown][]): string {
  const rest = entries.length > MAX_LINES ? [`… and ${entries.length - MAX_LINES} more`] : []
  let text = ''
  for (const most of MAX_VALUES) {
    const lines = entries
      .slice(0, MAX_LINES)
      .map(([name, value]) => `${nameText(name, most)}: ${looksSecret(name) ? MASKED : valueText(value, most)}`)
    text = [...lines, ...rest].join('\n')
    if (text.length <= MAX_TEXT) return text
  }
  return cut(text, MAX_TEXT)
}

/** A name that could be mistaken for a name and a value gets quotes. */
const nameText = (name: string, most: number): string =>
  /[:"]/.test(name)
    ? cut(JSON.stringify(name), Math.min(most, MAX_NAME), visibleJson)
    : cut(name, Math.min(most, MAX_NAME), visibleText)

const valueText = (value: unknown, most: number): string =>
  typeof value === 'string' && !needsQuotes(value)
    ? cut(value, most, visibleText)
    : cut(JSON.stringify(maskSecrets(value)) ?? 'null', most, visibleJson)

/** Without quotes, a text must not look like a number or a list, nor hide a space at its ends. */
function needsQuotes(text: string): boolean {
  if (text === '' || text !== text.trim()) return true
  if (text.length > MAX_QUOTED) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Says how much it leaves out, and never cuts a character in half. With escapes it is at most twice as long. */
function cut(text: string, length: number, shown = (kept: string) => kept): string {
  for (let most = length; ; most = Math.floor(most / 2)) {
    const isWhole = text.length <= most
    const end = !isWhole && /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most
    const kept = shown(text.slice(0, end))
    if (kept.length <= 2 * length || most < 2) return isWhole ? kept : `${kept}… (${text.length - end} more characters)`
  }
}
