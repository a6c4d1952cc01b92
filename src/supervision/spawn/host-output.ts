// What a host writes: its lines, and its last words.

import type { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { looksSecret, MASKED } from '../../domain/text/secret-name.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { ProcessEnd } from '../../tools/process/process-groups.ts'

/** A longer line is shown in parts. */
const MAX_LINE = 8_192

/**
 * The lines of a stream, without their line breaks. Waits for `take` before it reads on, so that a host that writes fast waits too.
 * `secrets` are masked: hosts print their configuration when something is wrong with it.
 */
export async function readLines(
  stream: Readable,
  secrets: readonly string[],
  take: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  const decoder = new TextDecoder()
  /** What may be the beginning of a secret is held back. */
  const held = Math.max(0, ...secrets.map((one) => one.length))
  let rest = ''
  try {
    for await (const chunk of stream) {
      const lines = withoutSecrets(rest + decoder.decode(chunk, { stream: true }), secrets).split(/\r?\n/)
      rest = lines.pop() ?? ''
      if (rest.length > 2 * MAX_LINE) {
        lines.push(rest.slice(0, -held || undefined))
        rest = held === 0 ? '' : rest.slice(-held)
      }
      if (lines.length > 0) await take(lines.flatMap(partsOf))
    }
  } catch {
    // The pipe broke because the host has ended.
  }
  rest = withoutSecrets(rest + decoder.decode(), secrets)
  if (rest !== '') await take(partsOf(rest))
}

export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((left, one) => left.replaceAll(one, '[masked]'), text)

function partsOf(line: string): string[] {
  const count = Math.max(1, Math.ceil(line.length / MAX_LINE))
  return Array.from({ length: count }, (_, i) => line.slice(i * MAX_LINE, (i + 1) * MAX_LINE))
}

const MOST_LINES = 8
const MOST_LINE = 300
const NAMED = /([A-Za-z0-9_-]+)(["']?\s*[:=]\s*)((?:(?:bearer|basic|token)\s+)?[^\s,;}\]]+)/gi
const BEARER = /\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi
const KEY = /\b(?:sk|pk|qd|gh[a-z]|github_pat|xox[a-z]|AIza)[-_]?[\w-]{16,}/g
const IN_ADDRESS = /(:\/\/)[^\s/@]+@/g

/** What a host wrote to stderr last: the reason of its crash, as people see it. Few lines, every character visible, no secrets. */
export function createLastWords() {
  let lines: string[] = []
  return {
    add(line: string): void {
      const plain = stripVTControlCharacters(line).trim()
      if (plain !== '') lines = [...lines, plain].slice(-MOST_LINES)
    },
    /** One line of text. Null: it wrote nothing. */
    text: (): string | null => (lines.length === 0 ? null : lines.map(shown).join(' / ')),
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

/** How a process ended, in words. */
export const codeOf = (end: ProcessEnd): string => {
  switch (end.kind) {
    case 'exit':
      return `exit code ${end.code}`
    case 'signal':
      return `signal ${end.signal}`
    default:
      return `not started (${end.code})`
  }
}
