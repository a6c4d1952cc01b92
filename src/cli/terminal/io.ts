import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import type { StrayErrors } from '../../tools/function/stray-errors.ts'

/** All that a command touches outside itself. Tests hand in their own, so that a command runs in-process. */
export interface Io {
  stdin: InputStream
  stdout: OutputStream
  stderr: OutputStream
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  clock: Clock
  /** Each request to stop, once. The returned function ends the subscription. */
  onSignal(listener: (signal: StopSignal) => void): () => void
  /** Takes those failures that belong to a tool's call, before `onCrash` hears of them. */
  strays: StrayErrors
  /** A failure that nothing caught; only the latest listener gets it, and the process lives on. */
  onCrash(listener: (error: unknown) => void): () => void
  /** What Node warns of; only the latest listener gets it. Without one it is a line on stderr. */
  onWarning(listener: (text: string) => void): () => void
  /** Ends the process now; nothing after it runs. */
  exit(code: number): void
  /** Shows a web page to the person at this machine; false when that cannot be tried. */
  openUrl(url: string): boolean
}

export type InputStream = Readable & { isTTY?: boolean }
export type OutputStream = Writable & { isTTY?: boolean; columns?: number; fd?: number }
export type StopSignal = 'SIGINT' | 'SIGTERM'

/** Ends a command with the code that it has come to. */
export type Settle = (exitCode: number) => void
