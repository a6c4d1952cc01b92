import type { Logger } from '../../../domain/logger.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, StopSignal } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'

export interface Stoppable {
  /** Runs that a stop would interrupt. */
  activeRuns(): number
  close(options: { drainMs: number; crashed?: boolean }): Promise<void>
}

/** How long the store may take to flush after a crash. */
const CRASH_FLUSH_MS = 2000

/**
 * Waits for a signal to stop, stops the server and returns the exit code. After the first signal, running answers have `drainMs` to
 * finish; the second one ends at once. An uncaught failure also ends the server, after the store is flushed.
 */
export function untilStopped(
  server: Stoppable,
  drainMs: number,
  log: Logger,
  io: Io,
  say = (text: string): void => void io.stderr.write(`${text}\n`),
): Promise<number> {
  return new Promise((resolve) => {
    let stopping = false
    const finish = (exitCode: number) => {
      stopListening()
      stopWatching()
      resolve(exitCode)
    }
    const stopListening = io.onSignal((signal) => {
      if (stopping) {
        finish(codeOfSignal(signal))
        return
      }
      stopping = true
      say(farewell(server.activeRuns(), drainMs, signal === 'SIGINT' ? 'Ctrl-C' : signal))
      server.close({ drainMs }).then(
        () => finish(exitCodes.ok.code),
        (error: unknown) => {
          log.error('the server did not stop cleanly', { error })
          finish(exitCodes.internal.code)
        },
      )
    })
    const stopWatching = io.onCrash((error) => {
      stopping = true
      log.error('unexpected failure, the server stops', { error })
      const giveUp = io.clock.after(CRASH_FLUSH_MS, () => finish(exitCodes.internal.code))
      server
        .close({ drainMs: 0, crashed: true })
        .catch((failure: unknown) => log.error('the server did not stop cleanly', { error: failure }))
        .finally(() => {
          giveUp()
          finish(exitCodes.internal.code)
        })
    })
  })
}

const codeOfSignal = (signal: StopSignal): number =>
  signal === 'SIGINT' ? exitCodes.interrupted.code : exitCodes.terminated.code

/**
 * Returns what `start` returns, or an exit code if a signal comes first. Without a handler, a signal would leave child processes behind,
 * and would not end the first process of a container at all.
 */
export function unlessStopped<T>(start: () => Promise<T>, io: Io): Promise<T | number> {
  const { promise: signalled, resolve } = Promise.withResolvers<number>()
  const stopListening = io.onSignal((signal) => resolve(codeOfSignal(signal)))
  return Promise.race([start(), signalled]).finally(stopListening)
}

function farewell(activeRuns: number, drainMs: number, again: string): string {
  if (activeRuns === 0) return 'Stopping.'
  return `Stopping: ${counted(activeRuns, 'answer')} still running, with up to ${drainMs / 1000} s to finish. ${again} again stops at once.`
}
