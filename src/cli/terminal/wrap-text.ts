/**
 * Breaks text between words so that no line is longer than `width`; further lines begin with `indent` spaces. A word that is longer,
 * an address above all, stays whole: whoever copies it must get all of it.
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
