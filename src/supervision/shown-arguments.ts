// The arguments of a call as a person reads them before they say yes: one a line, bounded, secrets masked, and every character
// to be seen.

import { visibleJson, visibleText } from '../domain/visible-text.ts'

const MAX_LINES = 40
const MAX_VALUE = 500
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
  const lines = entries
    .slice(0, MAX_LINES)
    .map(([name, value]) => `${shortText(name, 100)}: ${looksSecret(name) ? MASKED : valueText(value)}`)
  if (entries.length > MAX_LINES) lines.push(`… and ${entries.length - MAX_LINES} more`)
  return cut(lines.join('\n'), MAX_TEXT)
}

const valueText = (value: unknown): string =>
  typeof value === 'string' && !needsQuotes(value)
    ? shortText(value, MAX_VALUE)
    : cut(JSON.stringify(masked(value, 0)) ?? 'null', MAX_VALUE, visibleJson)

const shortText = (text: string, length: number): string => cut(text, length, visibleText)

/** A text without its quotes must not pass for a number or a list, nor hide a space at its ends. */
function needsQuotes(text: string): boolean {
  if (text === '' || text !== text.trim()) return true
  if (text.length > MAX_VALUE) return false
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

/** Says what it leaves out, and never ends between the halves of a character. */
function cut(text: string, length: number, shown = (kept: string) => kept): string {
  if (text.length <= length) return shown(text)
  const end = /[\ud800-\udbff]/.test(text[length - 1] ?? '') ? length - 1 : length
  return `${shown(text.slice(0, end))}… (${text.length - end} more characters)`
}
