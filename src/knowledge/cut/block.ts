// What every format becomes before it is cut: headings and blocks of content, in reading order.

import type { Place } from '../../domain/knowledge/passage.ts'

export type Block = Heading | Content

export interface Heading {
  kind: 'heading'
  /** 0 is the title of the whole document. */
  level: number
  text: string
  place: Place
}

export interface Content {
  kind: 'text' | 'item' | 'code' | 'table'
  text: string
  /** Lines that stand before each piece of it: the header of a table, the fence of code. */
  head: string
  /** Line that stands behind each piece. */
  tail: string
  /** It goes on where the block before it ends: in the same list, table, code or paragraph. */
  follows: boolean
  /** Of each line of the text. If there are more lines, the last one counts for the rest. */
  places: readonly Place[]
}

export interface Line {
  text: string
  place: Place
}

/** A longer line is a sentence, whatever it looks like. */
export const LONGEST_HEADING = 160

export const textBlock = (lines: readonly Line[], kind: Content['kind'] = 'text', follows = false): Content => ({
  kind,
  text: lines.map(({ text }) => text).join('\n'),
  head: '',
  tail: '',
  follows,
  places: lines.map(({ place }) => place),
})
