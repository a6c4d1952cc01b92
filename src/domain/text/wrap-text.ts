/**
 * Breaks text between words into lines of at most `width` characters; all but the first begin with `indent` spaces. A longer word stays
 * whole, so that an address can be copied.
 */
export function wrapText(text: string, width: number, indent: number): string {
  const lines: string[] = []
  let line = ''
  for (const [word] of text.matchAll(/ *[^ ]+/g)) {
    if (line.trim() !== '' && line.length + word.length > width) {
      lines.push(line)
      line = `${' '.repeat(indent)}${word.trimStart()}`
    } else {
      line += word
    }
  }
  return [...lines, line].join('\n')
}
