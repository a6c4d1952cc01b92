// Comments on the lines of a diff. They go to the agent with a no, as part of its reason.

import { numberOf, sideOf } from './diff-rows.ts'
import type { DiffFile, DiffLine } from './parse-diff.ts'

export interface CommentPlace {
  path: string
  side: 'old' | 'new'
  number: number
  /** The line, or its beginning. */
  quote: string
}

export interface LineComment extends CommentPlace {
  text: string
}

export interface LineComments {
  all: readonly LineComment[]
  /** Null: it is thrown away. */
  set: (place: CommentPlace, text: string | null) => void
}

const LONGEST_QUOTE = 120

export const placeIn = (file: DiffFile, line: DiffLine): CommentPlace => ({
  ...{ path: file.name ?? '', side: sideOf(line), number: numberOf(line) },
  quote: line.text.length > LONGEST_QUOTE ? `${line.text.slice(0, LONGEST_QUOTE)}…` : line.text,
})

/** As the agent reads them, from the top to the bottom. Blank ones say nothing. */
export const commentsText = (comments: readonly LineComment[]): string =>
  comments
    .filter(({ text }) => text.trim() !== '')
    .sort((a, b) => a.path.localeCompare(b.path) || a.number - b.number || b.side.localeCompare(a.side))
    .map(({ path, side, number, quote, text }) => {
      const where = `${path}:${number}${side === 'old' ? ' (removed)' : ''}`
      return `${where} — ${text.trim()}\n> ${quote.trim()}`
    })
    .join('\n\n')
