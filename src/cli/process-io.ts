import { createSystemClock } from '../domain/clock.ts'
import { exitCodes } from './exit-codes.ts'
import type { Io, StopSignal } from './io.ts'
import { oncePerKeypress } from './once-per-keypress.ts'
import { openUrl } from './open-url.ts'

export function createProcessIo(process: NodeJS.Process): Io {
  const clock = createSystemClock()
  const atTerminal = Boolean(process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY)

  // A reader that has seen enough (`| head`) is no failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })

  const crashListeners: ((error: unknown) => void)[] = []
  const crash = (error: unknown) => {
    const listener = crashListeners.at(-1)
    if (listener === undefined) process.exit(exitCodes.internal.code)
    listener(error)
  }
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)

  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    clock,
    onSignal(listener) {
      const heard = () => listener('SIGINT')
      // Without a terminal nobody presses keys: two signals are two.
      const interrupt = atTerminal ? oncePerKeypress(clock, heard) : heard
      const terminate = () => listener('SIGTERM')
      const handlers: [StopSignal, () => void][] = [
        ['SIGINT', interrupt],
        ['SIGTERM', terminate],
      ]
      for (const [signal, handle] of handlers) process.on(signal, handle)
      return () => {
        for (const [signal, handle] of handlers) process.off(signal, handle)
      }
    },
    onCrash(listener) {
      crashListeners.push(listener)
      return () => void crashListeners.splice(crashListeners.indexOf(listener), 1)
    },
    exit: (code) => process.exit(code),
    openUrl: (url) => openUrl(url, process.platform),
  }
}
