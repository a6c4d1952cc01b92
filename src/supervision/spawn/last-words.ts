// What a host wrote to stderr last: the reason of its crash, as people see it. Few lines, every character visible, no secrets.

import { stripVTControlCharacters } from 'node:util'
import { looksSecret, MASKED } from '../../domain/secret-name.ts'
import { visibleText } from '../../domain/visible-text.ts'

export interface LastWords {
  add(line: string): void
  /** One line of text. Null: it wrote nothing. */
  text(): string | null
}

const MOST_LINES = 8
const MOST_LINE = 300
const NAMED = /([A-Za-z0-9_-]+)(["']?\s*[:=]\s*)((?:(?:bearer|basic|token)\s+)?[^\s,;}\]]+)/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
const KEY = /\b(?:sk|pk|qd|gh[a-z]|github_pat|xox[a-z]|AIza)[-_]?[\w-]{16,}/g
const IN_ADDRESS = /(:\/\/)[^\s/@]+@/g

export function createLastWords(): LastWords {
  let lines: string[] = []
  return {
    add(line) {
      const plain = stripVTControlCharacters(line).trim()
      if (plain !== '') lines = [...lines, plain].slice(-MOST_LINES)
    },
    text: () => (lines.length === 0 ? null : lines.map(shown).join(' / ')),
  }
}

const shown = (line: string): string => {
  const text = visibleText(masked(line))
  return text.length > MOST_LINE ? `${text.slice(0, MOST_LINE)}…` : text
}

const masked = (line: string): string =>
  line
    .replace(NAMED, (whole, name: string, between: string) =>
      looksSecret(name) ? `${name}${between}${MASKED}` : whole,
    )
    .replace(BEARER, `$1 ${MASKED}`)
    .replace(KEY, MASKED)
    .replace(IN_ADDRESS, `$1${MASKED}@`)
