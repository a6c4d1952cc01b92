// What an answer cites. A tool finds passages and gives each a number in the conversation; the model writes `[3]`; the message keeps what
// `[3]` was.

import type { Passage } from '../knowledge/passage.ts'

/** A passage that was shown to the model. */
export interface Shown extends Omit<Passage, 'text'> {
  /** Counts through the whole conversation, so `[3]` never means two things. */
  number: number
  /** The tool that found it. */
  tool: string
}

/** A passage that an answer cites. */
export interface Source extends Shown {
  /** Empty if `isChanged`: nobody is shown what a file no longer says. */
  text: string
  /** The file has changed or gone since the model read the passage. */
  isChanged: boolean
}

/** What is known of an answer of an agent that has knowledge. Kept in the message's metadata, under `quarterdeck`. */
export interface Citations {
  /** In the order of their first mention. */
  sources: readonly Source[]
  /** Numbers that the answer cites and that nothing was found under. */
  notFound: readonly number[]
}

/** In code, `[3]` is an index. */
const CODE = /```[\s\S]*?(?:```|$)|~~~[\s\S]*?(?:~~~|$)|`[^`\n]*`/g
/** `[3]`, `[3, 4]`, `[3][4]`; not `[3](…)`, which is a link, `[^3]`, a footnote, or `a[3]`. */
export const CITATION = /(?<![\p{L}\p{N}_)\]!])((?:\[\d{1,5}(?:\s*[,;]\s*\d{1,5})*\])+)(?![(:])/gu

/** The numbers that a text cites, in the order of their first mention. */
export function citedNumbers(text: string): number[] {
  const numbers = new Set<number>()
  for (const [found] of text.replace(CODE, ' ').matchAll(CITATION)) {
    for (const [digits] of found.matchAll(/\d+/g)) numbers.add(Number(digits))
  }
  return [...numbers]
}
