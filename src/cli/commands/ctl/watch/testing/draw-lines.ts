// For tests: draws the lines of a file on the whole screen as `ctl watch` does, asks the terminal to print its screen (xterm does), and
// stays until it is ended.

import { readFileSync, writeFileSync } from 'node:fs'
import { createProcessIo } from '../../../../terminal/process-io.ts'
import { styleFor } from '../../../../terminal/style.ts'
import { openFullScreen } from '../full-screen.ts'
import { breakLine, paintLine } from '../screen-line.ts'

const PRINT_SCREEN = '\x1b[i'
const [source = '', ready = ''] = process.argv.slice(2)
const io = createProcessIo(process)
const screen = openFullScreen(io, { onKey() {}, onResize: draw, onEnd: () => process.exit() })
const style = styleFor(io.stdout, io.env)

function draw(): void {
  const { columns, rows } = screen.size()
  const lines = readFileSync(source, 'utf8').split('\n')
  const drawn = lines.flatMap((line) => breakLine(line, columns)).map((line) => paintLine(line, style))
  const page = (fill: string): string[] => Array.from({ length: rows }, (_, row) => drawn[row] ?? fill)
  // What was there before must not stay.
  screen.draw(page('#'.repeat(columns)))
  screen.draw(page(''))
  io.stdout.write(PRINT_SCREEN, () => writeFileSync(ready, String(columns)))
}
draw()
setInterval(() => {}, 60_000)
