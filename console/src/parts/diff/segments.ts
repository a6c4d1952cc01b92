// A line is shown in segments: plain text, words that differ, and marks of hidden characters. Put together they are the line.

export interface Segment {
  text: string
  isMark: boolean
  isChanged: boolean
}

const MARK = /<U\+[0-9A-F]{4,6}(?:×\d+)?>/g

/** `changed`: ranges of characters that differ, in order. A mark stays in one segment. */
export function segmentsOf(text: string, changed: readonly (readonly [from: number, to: number])[]): Segment[] {
  const marks = text.includes('<U+') ? [...text.matchAll(MARK)] : []
  const segments: Segment[] = []
  let at = 0
  for (const { 0: mark, index } of marks) {
    segments.push(...plain(text, at, index, changed))
    at = index + mark.length
    segments.push({ text: mark, isMark: true, isChanged: changed.some(([from, to]) => from < at && to > index) })
  }
  segments.push(...plain(text, at, text.length, changed))
  return segments
}

function plain(text: string, from: number, to: number, changed: readonly (readonly [number, number])[]): Segment[] {
  const segments: Segment[] = []
  const add = (start: number, end: number, isChanged: boolean) => {
    if (end > start) segments.push({ text: text.slice(start, end), isMark: false, isChanged })
  }
  let at = from
  for (const [start, end] of changed) {
    if (end <= at) continue
    if (start >= to) break
    add(at, Math.max(at, start), false)
    add(Math.max(at, start), Math.min(end, to), true)
    at = Math.min(end, to)
  }
  add(at, to, false)
  return segments
}
