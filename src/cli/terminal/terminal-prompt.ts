import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { failure } from '../cli-error.ts'
import type { Io } from './io.ts'
import { CLEAR_LINE } from './terminal-text.ts'

/** Lines from a person at a terminal. */
export interface Prompt {
  /** The signal withdraws the question; what was typed comes back with the next one. */
  ask(signal?: AbortSignal): Promise<Asked>
}

export type Asked = { type: 'line'; line: string } | { type: 'interrupt' } | { type: 'end' } | { type: 'withdrawn' }

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

export const hasTerminal = (io: Io): boolean => io.stdin.isTTY === true && io.stdout.isTTY === true

/** Stands behind every question that is answered with yes or no. */
export const YES_NO = ' [y/N] '

/**
 * Whether a person says yes: y or yes. Everything else is no. The question is short plain text; what it is about is printed before, because
 * the line editor would not break it as the terminal does.
 */
export async function saysYes(question: string, io: Io): Promise<boolean> {
  const asked = await createTerminalPrompt(io, `${question}${YES_NO}`).ask()
  return asked.type === 'line' && /^y(es)?$/i.test(asked.line.trim())
}

/** The same for commands that do nothing else. A no throws `CliError` with what that means; usually nothing has happened then. */
export async function confirm(
  question: string,
  io: Io,
  otherwise = 'Left as it is. Nothing has changed.',
): Promise<void> {
  if (!(await saysYes(question, io))) throw failure(otherwise)
}

/** Asks at the terminal without showing what is typed. Null: no input, no terminal, or the signal withdrew the question. */
export async function askSecret(label: string, io: Io, signal?: AbortSignal): Promise<string | null> {
  // The question goes to stderr, because standard output may be a file.
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return null
  // The editor shows typed text by writing it to its output.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input: io.stdin, output: nowhere, terminal: true, historySize: 0 })
  // Only now: before the editor starts, the terminal shows every key.
  io.stderr.write(label)
  const typed = await new Promise<string | null>((resolve) => {
    editor.once('line', resolve)
    editor.once('SIGINT', () => resolve(null))
    editor.once('close', () => resolve(null))
    signal?.addEventListener('abort', () => resolve(null), { once: true })
  })
  editor.close()
  io.stderr.write('\n')
  return typed?.trim() || null
}
