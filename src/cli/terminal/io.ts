import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import type { StrayErrors } from '../../tools/function/stray-errors.ts'

/** Everything that a command uses outside itself. Tests pass in their own, so that commands run in the test's process. */
export interface Io {
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  /** As the process was started, with our own secrets. Tools and child processes get `process.env`, which has lost them. */
  env: Readonly<Record<string, string | undefined>>
  /**
   * Takes variables from this process, but not from `env`, so that tools and their children do not find them. False: programs of this
   * user can still read some of them in /proc. Left out: the process belongs to somebody else.
   */
  forget?(names: readonly string[]): boolean
  cwd: string
  /** How a person types this program in a folder: by default in the one where they started it. See `programName`. */
  program(folder?: string): string
  clock: Clock
  /**
   * Reports each request to stop once. The returned function ends the subscription. With `hangUp` a closed terminal counts as
   * SIGTERM; without it nohup keeps working.
   */
  onSignal(listener: (signal: StopSignal) => void, options?: { hangUp: boolean }): () => void
  /** Gets failures that belong to a tool's call before `onCrash` does. */
  strays: StrayErrors
  /** Reports an uncaught failure to the newest listener. The process goes on. */
  onCrash(listener: (error: unknown) => void): () => void
  /** Reports Node's warnings to the newest listener. Without one, they are lines on stderr. */
  onWarning(listener: (text: string) => void): () => void
  /** Reports Enter at the terminal. Does nothing without one. */
  onEnter(listener: () => void): () => void
  exit(code: number): void
  /**
   * To be called when a server is ready: soon after, V8 has the flags of a process that lives long, and `globalThis.gc` exists. Null: the
   * process belongs to somebody else.
   */
  tune: (() => void) | null
  /** Opens a web page for the person at this machine. False if that cannot be tried. */
  openUrl(url: string): boolean
}

export type InputStream = Readable & { isTTY?: boolean }
export type OutputStream = Writable & { isTTY?: boolean; columns?: number; fd?: number }
export type StopSignal = 'SIGINT' | 'SIGTERM'
