// The part of a diff that a card shows.

import type { Room } from './card.ts'
import { shownProse, sizeOf } from './shown-text.ts'

export interface DiffExcerpt {
  text: string
  /** Changed lines that the excerpt leaves out. */
  hiddenChanges: number
  /** Nothing is left out, not even the end of a line. */
  isWhole: boolean
}

/** A diff with more changed lines is shown in part. */
export const MOST_CHANGED_LINES = 20
const MOST_LINE_CHARS = 300
const MOST_CHARS = 2_600

/** `shown` is a unified diff with its two header lines, in which hidden characters are marked. The card says the path itself. */
export function diffExcerpt(shown: string, room: Room = 1): DiffExcerpt {
  const lines = shown.replace(/\n$/, '').split('\n')
  const body = /^--- /.test(lines[0] ?? '') && /^\+\+\+ /.test(lines[1] ?? '') ? lines.slice(2) : lines
  const isChange = (line: string): boolean => line.startsWith('+') || line.startsWith('-')
  const all = body.filter(isChange).length
  const kept: string[] = []
  let changes = 0
  let chars = 0
  let isWhole = true
  for (const line of body) {
    const { text, isCut } = shownProse(line, MOST_LINE_CHARS)
    const isNext = isChange(line)
    chars += sizeOf(text) + sizeOf('\n')
    if ((isNext && changes === MOST_CHANGED_LINES) || chars > MOST_CHARS * room) {
      isWhole = false
      break
    }
    if (isCut) isWhole = false
    if (isNext) changes += 1
    kept.push(text)
  }
  return { text: kept.join('\n'), hiddenChanges: all - changes, isWhole }
}
