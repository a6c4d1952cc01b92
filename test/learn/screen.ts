// What a person sees at a terminal: text without the codes that draw it, and with the lines that were overwritten gone.

export interface Screen {
  write(text: string): void
  /** The lines so far, the last of which may go on. Without blanks at their ends. */
  lines(): string[]
}

/** A control sequence with its parameters and its letter, a command to the terminal (title, link), another escape, or text. */
const PIECE = /\x1b\[([\d;?]*)([A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[^[\]]|[\r\n\b]|[^\x1b\r\n\b]+/g

export function createScreen(): Screen {
  const done: string[] = []
  let line = ''
  let column = 0
  let unfinished = ''

  function put(text: string): void {
    line = line.padEnd(column).slice(0, column) + text + line.slice(column + text.length)
    column += text.length
  }
  function move(letter: string, parameter: string): void {
    const count = Number(parameter || 1)
    if (letter === 'G') column = count - 1
    else if (letter === 'C') column += count
    else if (letter === 'D') column = Math.max(column - count, 0)
    else if (letter === 'K' || letter === 'J') line = parameter === '2' ? '' : line.slice(0, column)
  }
  return {
    write(text) {
      const all = unfinished + text
      const begun = /\x1b(?:\[[\d;?]*|\][^\x07\x1b]*)?$/.exec(all)
      unfinished = begun?.[0] ?? ''
      for (const [piece, parameter, letter] of all.slice(0, all.length - unfinished.length).matchAll(PIECE)) {
        if (letter !== undefined) move(letter, parameter ?? '')
        else if (piece === '\r') column = 0
        else if (piece === '\b') column = Math.max(column - 1, 0)
        else if (piece === '\n') {
          done.push(line)
          line = ''
          column = 0
        } else if (!piece.startsWith('\x1b')) put(piece)
      }
    },
    lines: () => [...done, line].map((one) => one.trimEnd()),
  }
}
