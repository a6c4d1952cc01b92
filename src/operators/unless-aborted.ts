import { DeliveryFailed } from './operator.ts'

/** Rejects when the signal aborts: what does not listen to its signal must not hold up the others. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new DeliveryFailed('The delivery took too long.'))
    // Also if the signal has aborted: a failure that nobody listens to ends the process.
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true })
  })
}
