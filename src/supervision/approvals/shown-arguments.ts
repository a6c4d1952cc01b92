// The arguments of a call as a person reads them before they say yes: one a line, bounded, secrets masked, and every character
// to be seen.

import { visibleJson, visibleText } from '../../domain/visible-text.ts'

const MAX_LINES = 40
/** Of one value, and where all of them are too long together: what comes first must not push out what comes last. */
const MAX_VALUES = [500, 250, 100, 40]
const MAX_NAME = 100
/** A longer text is not read to find out what it looks like. */
const MAX_QUOTED = 500
const MAX_TEXT = 4_000
/** Deeper than anybody reads. */
const MAX_DEPTH = 20

export const MASKED = '[masked]'

const secretWords = new Set([
  'password',
  'passwd',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'credentials',
  'apikey',
])
const secretPairs = new Set(['api key', 'private key', 'access key'])

/** By its words: `accessToken` and `API_KEY` do, `max_tokens` and `keyboard` do not. */
export function looksSecret(name: string): boolean {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  return words.some((word, i) => secretWords.has(word) || secretPairs.has(`${word} ${words[i + 1]}`))
}

export function shownArguments(args: Record<string, unknown>): string {
  const entries = Object.entries(args)
  if (entries.length === 0) return 'without arguments'
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

/** A name in which the value seems to begin stands in quotes. */
const nameText = (name: string, most: number): string =>
  /[:"]/.test(name)
    ? cut(JSON.stringify(name), Math.min(most, MAX_NAME), visibleJson)
    : cut(name, Math.min(most, MAX_NAME), visibleText)

const valueText = (value: unknown, most: number): string =>
  typeof value === 'string' && !needsQuotes(value)
    ? cut(value, most, visibleText)
    : cut(JSON.stringify(masked(value, 0)) ?? 'null', most, visibleJson)

/** A text without its quotes must not pass for a number or a list, nor hide a space at its ends. */
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

function masked(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return `… (more than ${MAX_DEPTH} levels deep)`
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, looksSecret(name) ? MASKED : masked(one, depth + 1)]),
  )
}

/** Says what it leaves out, and never ends between the halves of a character. Escapes make it no more than twice as long. */
function cut(text: string, length: number, shown = (kept: string) => kept): string {
  for (let most = length; ; most = Math.floor(most / 2)) {
    const isWhole = text.length <= most
    const end = !isWhole && /[\ud800-\udbff]/.test(text[most - 1] ?? '') ? most - 1 : most
    const kept = shown(text.slice(0, end))
    if (kept.length <= 2 * length || most < 2) return isWhole ? kept : `${kept}… (${text.length - end} more characters)`
  }
}
