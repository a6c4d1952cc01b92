import { createInterface } from 'node:readline'
import type { Io } from './io.ts'

/** Lines from a person at a terminal. */
export interface Prompt {
  ask(): Promise<Asked>
}

export type Asked = { type: 'line'; line: string } | { type: 'interrupt' } | { type: 'end' }

/**
 * The line editor lives only while it asks: between two questions the terminal is its normal self, so that Ctrl-C during
 * an answer is an ordinary signal. Lines that were pasted together are kept and given one by one. `draft` stands there to
 * be changed.
 */
export function createTerminalPrompt(io: Io, label: string, draft = ''): Prompt {
  const pasted: string[] = []
  let unfinished = draft
  let history: string[] = []

  const edit = () =>
    new Promise<Asked>((resolve) => {
      const editor = createInterface({ input: io.stdin, output: io.stdout, prompt: label, history, terminal: true })
      const lines: string[] = []
      const finish = (asked: Asked) => {
        editor.off('close', end)
        unfinished = asked.type === 'line' ? editor.line : ''
        editor.close()
        resolve(asked)
      }
      const end = () => finish({ type: 'end' })
      editor.on('history', (entries: string[]) => {
        history = [...entries]
      })
      editor.on('line', (line) => {
        // All lines of one chunk are announced before the next turn.
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
    async ask() {
      const line = pasted.shift()
      return line === undefined ? await edit() : { type: 'line', line }
    },
  }
}
