/** Settles like the promise, or rejects with the signal's reason as soon as it aborts. Then the promise's result is ignored. */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}
