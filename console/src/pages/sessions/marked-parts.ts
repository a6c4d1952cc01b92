/** A piece of a text; `isMarked`: it was searched for. */
export interface MarkedPart {
  text: string
  isMarked: boolean
  from: number
}

/** Splits a text at the marks of the server. Marks that are out of order or out of the text are left out, never the text. */
export function markedParts(text: string, marks: readonly (readonly [number, number])[]): MarkedPart[] {
  const parts: MarkedPart[] = []
  let at = 0
  const add = (to: number, isMarked: boolean): void => {
    if (to > at) parts.push({ text: text.slice(at, to), isMarked, from: at })
    at = Math.max(at, to)
  }
  for (const [from, to] of marks) {
    if (from < at || to <= from || to > text.length) continue
    add(from, false)
    add(to, true)
  }
  add(text.length, false)
  return parts
}
