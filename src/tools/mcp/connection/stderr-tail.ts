import { stripVTControlCharacters } from 'node:util'
import { createMask } from '../../../domain/text/mask.ts'

const MOST_LINES = 5
const MOST_CHARS = 1_000

export type StderrTail = ReturnType<typeof createStderrTail>

/**
 * The last lines that a server wrote to stderr: they say why it does not start. `secrets`, what the server was given and nobody else may
 * read, are masked.
 */
export function createStderrTail(secrets: readonly string[]) {
  const mask = createMask(secrets)
  let lines: string[] = []
  return {
    add(line: string): void {
      const text = stripVTControlCharacters(line).trim()
      if (text !== '') lines = [...lines, text].slice(-MOST_LINES)
    },
    clear(): void {
      lines = []
    },
    /** A sentence to put after another one. Empty if the server wrote nothing. */
    sentence(): string {
      if (lines.length === 0) return ''
      const text = mask(lines.join(' / '))
      return ` The end of its stderr: ${text.length > MOST_CHARS ? `…${text.slice(-MOST_CHARS)}` : text}`
    },
  }
}
