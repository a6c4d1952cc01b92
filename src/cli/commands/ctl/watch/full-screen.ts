import { emitKeypressEvents } from 'node:readline'
import type { InputStream, Io } from '../../../terminal/io.ts'
import type { Key } from './watch-state.ts'

// Without wrapping at the edge, a line that is wider than we think cannot cover the others.
const ENTER = '\x1b[?1049h\x1b[?25l\x1b[?7l'
const LEAVE = '\x1b[?7h\x1b[?25h\x1b[?1049l'

export interface ScreenEvents {
  onKey(key: Key): void
  onResize(): void
  /** The terminal is gone. */
  onEnd(): void
}

/** The terminal as a screen of its own. `restore` gives it back as it was, and may be called at any time, also twice. */
export function openFullScreen(io: Io, { onKey, onResize, onEnd }: ScreenEvents) {
  const { stdin, stdout } = io
  let isOpen = false
  let isOver = false
  const press = (text: string | undefined, key: { name?: string; ctrl?: boolean; meta?: boolean } = {}): void => {
    const isText = text !== undefined && key.ctrl !== true && key.meta !== true && /^[^\p{Cc}]+$/u.test(text)
    onKey({ name: key.name ?? '', ctrl: key.ctrl === true, text: isText ? text : '' })
  }

  function enter(): void {
    isOpen = true
    emitKeypressEvents(stdin)
    setRaw(stdin, true)
    stdin.on('keypress', press)
    stdin.on('end', onEnd)
    stdout.on('resize', onResize)
    stdin.resume()
    stdout.write(ENTER)
  }

  function leave(): void {
    if (!isOpen) return
    isOpen = false
    stdin.off('keypress', press)
    stdin.off('end', onEnd)
    stdout.off('resize', onResize)
    setRaw(stdin, false)
    stdin.pause()
    stdout.write(LEAVE)
  }

  enter()
  return {
    draw(lines: readonly string[]): void {
      // Each row is erased before it is written: behind a row that is full, the cursor may still stand on its last character.
      if (isOpen) stdout.write(lines.map((line, row) => `\x1b[${row + 1};1H\x1b[2K${line}`).join(''))
    },
    bell: () => void stdout.write('\x07'),
    size: () => ({ columns: stdout.columns || 80, rows: rowsOf(stdout) }),
    /** Gives the terminal to somebody else meanwhile: an editor, or a question for a secret. */
    async lend<T>(work: () => Promise<T>): Promise<T> {
      // Already lent: whoever has it gives it back.
      if (!isOpen) return await work()
      leave()
      try {
        return await work()
      } finally {
        if (!isOver) enter()
        onResize()
      }
    },
    restore(): void {
      isOver = true
      leave()
    },
  }
}

function setRaw(stdin: InputStream, isRaw: boolean): void {
  if ('setRawMode' in stdin && typeof stdin.setRawMode === 'function') stdin.setRawMode(isRaw)
}

const rowsOf = (stdout: Io['stdout']): number =>
  'rows' in stdout && typeof stdout.rows === 'number' && stdout.rows > 0 ? stdout.rows : 24
