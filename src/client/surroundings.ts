// What the client takes from where it runs, unless it is told otherwise.

/** Rejects with the signal's reason when that comes first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const leave = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', leave)
      resolve()
    }, ms)
    signal?.addEventListener('abort', leave, { once: true })
  })
}

/** Unique and no secret, so it needs no `crypto`: Node 18 and pages that came over plain HTTP have only a part of it. */
export function randomKey(): string {
  const part = () => Math.random().toString(36).slice(2)
  return `client-${part()}${part()}`
}
