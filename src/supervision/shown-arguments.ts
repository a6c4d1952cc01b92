// The arguments of a call as a person reads them before they say yes: one a line, bounded, secrets masked, and without
// characters that make a line look like something else.

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
    .map(
      ([name, value]) =>
        `${plain(cut(name, 100))}: ${looksSecret(name) ? MASKED : plain(cut(textOf(value), MAX_VALUE))}`,
    )
  if (entries.length > MAX_LINES) lines.push(`… and ${entries.length - MAX_LINES} more`)
  return cut(lines.join('\n'), MAX_TEXT)
}

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(masked(value, 0)) ?? 'null')

function masked(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) return value.map((one) => masked(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, looksSecret(name) ? MASKED : masked(one, depth + 1)]),
  )
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length).toWellFormed()}… (${text.length - length} more characters)` : text

/** Line breaks would add arguments that are not there, and some marks turn the order of what follows around. */
const plain = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\n' ? '\\n' : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  )
