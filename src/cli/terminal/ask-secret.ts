import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Io } from './io.ts'

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
