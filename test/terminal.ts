// A command at a terminal, as a person types it.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { onTestFinished } from 'vitest'

/** Makes a terminal for a command. Part of every Debian and Ubuntu; elsewhere its flags differ. */
export const hasScript = process.platform === 'linux' && existsSync('/usr/bin/script')

export interface Terminal {
  type(text: string): void
  /** All that was printed since the last call, once `text` is in it. */
  until(text: string): Promise<string>
  /** Ctrl-C. Returns what is printed from then on. */
  stop(): Promise<string>
  /** The exit code. */
  ended: Promise<number>
}

interface TerminalOptions {
  cwd: string
  env: Record<string, string>
  onData?: (text: string) => void
}

/** A command at a terminal that is wide enough for whole lines. */
export function openTerminal(command: string, { cwd, env, onData = () => {} }: TerminalOptions): Terminal {
  const child: ChildProcess = spawn('script', ['-qfec', `stty cols 250; ${command}`, '/dev/null'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? -1)))
  let unread = ''
  let look = (): void => {}
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    unread += text
    onData(text)
    look()
  })
  const take = (): string => {
    const text = unread
    unread = ''
    return text
  }
  return {
    ended,
    type: (text) => void child.stdin?.write(text),
    async until(text) {
      await new Promise<void>((resolve, reject) => {
        look = () => {
          if (unread.includes(text)) resolve()
        }
        look()
        void ended.then(() => reject(new Error(`${command} ended without “${text}”:\n${unread}`)))
      })
      return take()
    },
    async stop() {
      child.stdin?.write('\u0003')
      await ended
      return take()
    },
  }
}
