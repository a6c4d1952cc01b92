/**
 * Turns bytes into lines in bounded memory. A line longer than `maxBytes` is reported once with only its beginning, marked as cut,
 * and its rest is skipped.
 */
export function createLineSplitter(
  maxBytes: number,
  onLine: (line: string, cut: boolean) => void,
): (chunk: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  let skipping = false

  function take(cut: boolean): void {
    const bytes = Buffer.concat(parts)
    parts = []
    size = 0
    const end = !cut && bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length
    onLine(bytes.toString('utf8', 0, end), cut)
  }

  return (chunk) => {
    let from = 0
    while (from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from)
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end)
      from += piece.length + 1
      if (skipping) {
        skipping = end === -1
        continue
      }
      parts.push(piece.subarray(0, maxBytes - size))
      size += piece.length
      if (size > maxBytes) {
        take(true)
        skipping = end === -1
      } else if (end !== -1) take(false)
    }
  }
}

const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d
