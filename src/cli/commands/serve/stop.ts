import type { Logger } from '../../../domain/logger.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io, StopSignal } from '../../terminal/io.ts'

/** What stopping needs of a server. */
export interface Stoppable {
  /** Runs that would be cut off now. */
  activeRuns(): number
  close(options: { drainMs: number; crashed?: boolean }): Promise<void>
}

/** A store that cannot be flushed within this time after a crash will not be. */
const CRASH_FLUSH_MS = 2000

/**
 * Waits until the server is to stop, stops it and gives the code to end with. The first signal lets running answers
 * finish for `drainMs`, the second ends at once. A failure that nobody caught ends it too, after the store is flushed.
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
 * What `start` gives, or the code to end with when a signal comes first. Left to itself, a signal would end this process without its children,
 * and not at all where it is the first one of a container.
 */
export function unlessStopped<T>(start: () => Promise<T>, io: Io): Promise<T | number> {
  const { promise: signalled, resolve } = Promise.withResolvers<number>()
  const stopListening = io.onSignal((signal) => resolve(codeOfSignal(signal)))
  return Promise.race([start(), signalled]).finally(stopListening)
}

function farewell(activeRuns: number, drainMs: number, again: string): string {
  if (activeRuns === 0) return 'Stopping.'
  const answers = activeRuns === 1 ? '1 answer' : `${activeRuns} answers`
  return `Stopping: ${answers} in work, up to ${drainMs / 1000} s to finish. ${again} again stops at once.`
}
