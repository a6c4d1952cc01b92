import type { Clock } from './clock.ts'

/** Settles like the promise, or rejects with the signal's reason as soon as it aborts. Then the promise's result is ignored. */
export function untilAborted<T>(promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).then(() => signal.removeEventListener('abort', abort))
  })
}

/** A signal that aborts after `ms`, unless it is disposed of before. `hold`: see `Clock.after`. */
export function abortAfter(
  clock: Pick<Clock, 'after'>,
  ms: number,
  { reason, hold = false }: { reason?: () => Error; hold?: boolean } = {},
): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController()
  return { signal: late.signal, [Symbol.dispose]: clock.after(ms, () => late.abort(reason?.()), hold) }
}

/** What the work gives, or null if that takes longer than `ms`. Then it goes on, and nobody waits for it. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>, hold = false): Promise<T | null> {
  using late = abortAfter(clock, ms, { hold })
  return await Promise.race([
    work,
    new Promise<null>((resolve) => late.signal.addEventListener('abort', () => resolve(null))),
  ])
}
