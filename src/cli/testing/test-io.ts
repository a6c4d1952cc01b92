import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { Clock } from '../../domain/clock.ts'
import { createStrayErrors } from '../../tools/function/stray-errors.ts'
import type { InputStream, Io, OutputStream, StopSignal } from '../terminal/io.ts'

export interface TestIo extends Io {
  /** What was printed so far. */
  printed(): string
  complained(): string
  signal(signal: StopSignal): void
  crash(error: unknown): void
  warn(text: string): void
  pressEnter(): void
  /** Resolves when `text` has been printed to either stream. */
  until(text: string): Promise<void>
  opened: string[]
}

export interface TestIoOptions {
  stdin?: string | InputStream
  terminal?: boolean
  env?: Record<string, string>
  cwd?: string
  /** How the program is called here. */
  program?: string
  clock?: Clock
}

/** An `Io` that records a command's output and lets a test play the person and the operating system. */
export function createTestIo(options: TestIoOptions = {}): TestIo {
  const { cwd = '/nowhere' } = options
  const listeners = {
    signal: new Set<(signal: StopSignal) => void>(),
    crash: new Set<(error: unknown) => void>(),
    warning: new Set<(text: string) => void>(),
    enter: new Set<() => void>(),
  }
  const waiting = new Set<() => void>()
  const out: string[] = []
  const err: string[] = []
  const opened: string[] = []
  const all: string[] = []
  const sink = (into: string[]): OutputStream => {
    const stream: OutputStream = new Writable({
      write(chunk, _encoding, done) {
        into.push(String(chunk))
        all.push(String(chunk))
        for (const look of waiting) look()
        done()
      },
    })
    if (options.terminal) Object.assign(stream, { isTTY: true, columns: 80 })
    return stream
  }
  let stdin: InputStream
  if (options.stdin === undefined || typeof options.stdin === 'string') {
    stdin = new PassThrough().end(options.stdin ?? '')
  } else {
    stdin = options.stdin
  }
  if (options.terminal) Object.assign(stdin, { isTTY: true, setRawMode: () => stdin })
  const subscribe = <T>(set: Set<T>, listener: T) => {
    set.add(listener)
    return () => void set.delete(listener)
  }
  return {
    stdin,
    stdout: sink(out),
    stderr: sink(err),
    // Never the config folder of the person who runs the tests.
    env: { QUARTERDECK_CONFIG_DIR: join(cwd, '.config'), ...options.env },
    cwd,
    program: () => options.program ?? 'quarterdeck',
    clock: options.clock ?? instantClock(),
    strays: createStrayErrors(),
    onSignal: (listener) => subscribe(listeners.signal, listener),
    onCrash: (listener) => subscribe(listeners.crash, listener),
    onWarning: (listener) => subscribe(listeners.warning, listener),
    tune: null,
    onEnter: (listener) => subscribe(listeners.enter, listener),
    exit(code) {
      throw new Error(`the command ended the process with ${code}`)
    },
    openUrl(url) {
      opened.push(url)
      return true
    },
    opened,
    printed: () => out.join(''),
    complained: () => err.join(''),
    signal(signal) {
      for (const listener of [...listeners.signal]) listener(signal)
    },
    crash(error) {
      ;[...listeners.crash].at(-1)?.(error)
    },
    warn(text) {
      ;[...listeners.warning].at(-1)?.(text)
    },
    pressEnter() {
      for (const listener of [...listeners.enter]) listener()
    },
    until: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!all.join('').includes(text)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}

/** A clock whose timers fire in the next turn. */
export function instantClock(now = Date.UTC(2026, 10, 15)): Clock {
  return {
    now: () => now,
    mono: () => now,
    after(_ms, fire) {
      const handle = setImmediate(fire)
      return () => clearImmediate(handle)
    },
    soon: (fire) => void setImmediate(fire),
  }
}
