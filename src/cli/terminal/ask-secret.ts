import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Io } from './io.ts'

/** What a person types at the terminal, without it being shown. Null: nothing, there is no terminal, or the signal took the question away. */
export async function askSecret(label: string, io: Io, signal?: AbortSignal): Promise<string | null> {
  // Standard output may be a file; the question is for the person.
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return null
  // The editor shows what is typed by writing it to its output.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input: io.stdin, output: nowhere, terminal: true, historySize: 0 })
  // Not before it: until then the terminal shows every key by itself.
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
