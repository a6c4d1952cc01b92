// Colours of code in a diff. Where all lines from the first one on are known, each side of the file is coloured as a whole. Otherwise each
// line is coloured for itself: a guess about what stands above could make code look like a comment or a string.

import type { CodePiece, CodeTone, Colour } from '../markdown/highlight.ts'
import type { DiffFile, DiffLine } from './parse-diff.ts'
import type { Segment } from './segments.ts'

export interface Tone {
  from: number
  to: number
  tone: CodeTone
}

export interface FileColours {
  colour: Colour
  /** By the number of the line, from 0 on. Null: not known from the first line on, or too much. */
  old: readonly (readonly Tone[])[] | null
  now: readonly (readonly Tone[])[] | null
}

/** Of one side, in characters: a tenth of a second. */
const LONGEST_SIDE = 100_000
const LONGEST_LINE = 2_000

/** `between`: the lines of the new file. Null: the diff is all there is. */
export function coloursOf(file: DiffFile, colour: Colour, between: readonly string[] | null): FileColours {
  const sides = sidesOf(file, between)
  const tones = (lines: readonly string[]): Tone[][] | null => {
    const text = lines.join('\n')
    const pieces = text.length > LONGEST_SIDE ? null : colour(text)
    return pieces === null ? null : tonesByLine(pieces)
  }
  if (sides === null) return { colour, old: null, now: null }
  return { colour, old: file.removed === 0 ? null : tones(sides.old), now: tones(sides.now) }
}

/** Both sides up to the last line of the diff. */
export function sidesOf(file: DiffFile, between: readonly string[] | null) {
  const [old, now]: [string[], string[]] = [[], []]
  for (const entry of file.entries) {
    if (entry.type === 'note') continue
    if (entry.type === 'stretch') {
      if (entry.skipped === null || entry.skipped === 0) continue
      const skipped = between?.slice(now.length, now.length + entry.skipped) ?? []
      if (skipped.length < entry.skipped) return null
      old.push(...skipped)
      now.push(...skipped)
      continue
    }
    if (entry.type !== 'add') old.push(entry.text)
    if (entry.type !== 'remove') now.push(entry.text)
  }
  return { old, now }
}

function tonesByLine(pieces: readonly CodePiece[]): Tone[][] {
  let line: Tone[] = []
  const lines = [line]
  let at = 0
  for (const { text, tone } of pieces) {
    text.split('\n').forEach((part, i) => {
      if (i > 0) {
        line = []
        lines.push(line)
        at = 0
      }
      if (tone !== null && part.trim() !== '') line.push({ from: at, to: at + part.length, tone })
      at += part.length
    })
  }
  return lines
}

export function tonesOf({ colour, old, now }: FileColours, line: DiffLine): readonly Tone[] {
  const known = line.type === 'remove' ? old?.[(line.oldNumber ?? 0) - 1] : now?.[(line.newNumber ?? 0) - 1]
  if (known !== undefined || line.text.length > LONGEST_LINE) return known ?? []
  return tonesByLine(colour(line.text) ?? [])[0] ?? []
}

/**
 * Paints text in the page without a single element more, so that long diffs stay light, and without a change of the text. Marks are left
 * alone. `children` stand for the segments, from `offset` of the line on. A browser that cannot do it shows no colours.
 */
export function paint(
  children: readonly ChildNode[],
  segments: readonly Segment[],
  tones: readonly Tone[],
  offset: number,
): () => void {
  if (!('highlights' in CSS)) return () => {}
  const painted: (readonly [Highlight, AbstractRange])[] = []
  let at = offset
  segments.forEach(({ text, isMark }, i) => {
    const child = children[i]
    const node = child?.nodeType === Node.TEXT_NODE ? child : child?.firstChild
    const [begin, end] = [at, at + text.length]
    at = end
    if (isMark || node?.nodeType !== Node.TEXT_NODE) return
    for (const { from, to, tone } of tones) {
      if (to <= begin || from >= end) continue
      const place = { startContainer: node, startOffset: Math.max(from, begin) - begin }
      const range = new StaticRange({ ...place, endContainer: node, endOffset: Math.min(to, end) - begin })
      const colour = colourOf(tone)
      colour.add(range)
      painted.push([colour, range])
    }
  })
  return () => {
    for (const [colour, range] of painted) colour.delete(range)
  }
}

function colourOf(tone: CodeTone): Highlight {
  const name = `code-${tone}`
  const found = CSS.highlights.get(name) ?? new Highlight()
  CSS.highlights.set(name, found)
  return found
}
