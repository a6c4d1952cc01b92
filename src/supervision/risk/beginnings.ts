// The words of a line that a person may be asked to remember.

import { AND, type Beginning, type WorkRisk } from './risk.ts'
import type { ShellWord } from './shell-words.ts'

/** One program of the line. */
export interface Part {
  risk: WorkRisk
  /** Null: it also writes to a file, or reads from one. */
  words: readonly ShellWord[] | null
  /** Without variables in front, and without input from another program. */
  isPlain: boolean
  /** See `Scene.begins`. */
  begins: readonly ShellWord[] | null | undefined
  ofHigh: string | undefined
  /** Why it is high. */
  reasons: Set<string>
}

export const newPart = (): Part => ({
  risk: 'none',
  words: null,
  isPlain: true,
  begins: undefined,
  ofHigh: undefined,
  reasons: new Set(),
})

/** Of most high programs all words count, and what it reads would make it another one. */
export function beginningsOf(parts: readonly Part[]): Beginning[] {
  const working = parts.filter(({ risk }) => risk !== 'none')
  const found = working.map(({ risk, words, begins, isPlain, ofHigh, reasons }) => {
    const isLow = risk === 'low'
    if (words === null || begins == null || (!isLow && !(isPlain && words.every(({ kind }) => kind === 'plain'))))
      return null
    const onlyAsks = ofHigh !== undefined && reasons.size === 1 && reasons.has(ofHigh)
    const all = isLow || onlyAsks ? begins : words
    const isKnown = all.every(({ kind, text }) => kind === 'plain' && text !== AND)
    return isKnown ? { risk, words: all.map(({ text }) => text) } : null
  })
  if (!found.every((one) => one !== null)) return []
  return [...new Map(found.map((one) => [one.words.join('\0'), one])).values()]
}
