// What a person sees at a terminal: text without the codes that draw it, and with the lines that were overwritten gone.

export interface Screen {
  write(text: string): void
  /** The lines so far, the last of which may go on. Without blanks at their ends. */
  lines(): string[]
}

const ESC = '\x1b'
const BELL = '\x07'
/** A control sequence with its parameters and its letter, a command to the terminal (title, link), another escape, or text. */
const PIECE = new RegExp(
  [
    `${ESC}\\[([\\d;?]*)([A-Za-z])`,
    `${ESC}\\][^${BELL}${ESC}]*(?:${BELL}|${ESC}\\\\)`,
    `${ESC}[^[\\]]`,
    '[\\r\\n\\b]',
    `[^${ESC}\\r\\n\\b]+`,
  ].join('|'),
  'g',
)
const BEGUN = new RegExp(`${ESC}(?:\\[[\\d;?]*|\\][^${BELL}${ESC}]*)?$`)

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
      unfinished = BEGUN.exec(all)?.[0] ?? ''
      for (const [piece, parameter, letter] of all.slice(0, all.length - unfinished.length).matchAll(PIECE)) {
        if (letter !== undefined) move(letter, parameter ?? '')
        else if (piece === '\r') column = 0
        else if (piece === '\b') column = Math.max(column - 1, 0)
        else if (piece === '\n') {
          done.push(line)
          line = ''
          column = 0
        } else if (!piece.startsWith(ESC)) put(piece)
      }
    },
    lines: () => [...done, line].map((one) => one.trimEnd()),
  }
}
