import { createInterface } from 'node:readline'
import type { Io } from './io.ts'

/** Lines from a person at a terminal. */
export interface Prompt {
  /** The signal withdraws the question; what was typed comes back with the next one. */
  ask(signal?: AbortSignal): Promise<Asked>
}

export type Asked = { type: 'line'; line: string } | { type: 'interrupt' } | { type: 'end' } | { type: 'withdrawn' }

const CLEAR_LINE = '\r\x1b[2K'

/**
 * The line editor exists only while it asks. Between two questions the terminal works normally, so Ctrl-C during an answer is an
 * ordinary signal. Lines that were pasted together are returned one by one. `draft` is text that the person can edit.
 */
export function createTerminalPrompt(io: Io, label: string, draft = ''): Prompt {
  const pasted: string[] = []
  let unfinished = draft
  let history: string[] = []

  const edit = (signal: AbortSignal | undefined) =>
    new Promise<Asked>((resolve) => {
      const editor = createInterface({ input: io.stdin, output: io.stdout, prompt: label, history, terminal: true })
      const lines: string[] = []
      const finish = (asked: Asked) => {
        editor.off('close', end)
        signal?.removeEventListener('abort', withdraw)
        unfinished = asked.type === 'line' || asked.type === 'withdrawn' ? editor.line : ''
        editor.close()
        resolve(asked)
      }
      const withdraw = () => {
        io.stdout.write(CLEAR_LINE)
        finish({ type: 'withdrawn' })
      }
      signal?.addEventListener('abort', withdraw, { once: true })
      const end = () => finish({ type: 'end' })
      editor.on('history', (entries: string[]) => {
        history = [...entries]
      })
      editor.on('line', (line) => {
        // All lines of one chunk arrive before the next turn.
        if (lines.push(line) > 1) return
        setImmediate(() => {
          pasted.push(...lines.slice(1))
          finish({ type: 'line', line })
        })
      })
      editor.once('SIGINT', () => finish({ type: 'interrupt' }))
      editor.once('close', end)
      editor.prompt()
      if (unfinished !== '') editor.write(unfinished)
    })

  return {
    async ask(signal) {
      if (signal?.aborted) return { type: 'withdrawn' }
      const line = pasted.shift()
      return line === undefined ? await edit(signal) : { type: 'line', line }
    },
  }
}
