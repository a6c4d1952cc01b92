const LOOK_EVERY_MS = 5

/** Resolves when it is so. Throws, saying what was waited for, when it is not so within `withinMs`. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 100_000,
): Promise<{ afterMs: number }> {
  const began = performance.now()
  while (!(await isSo())) {
    if (performance.now() - began > withinMs) throw new Error(`waited ${withinMs} ms in vain: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
  return { afterMs: performance.now() - began }
}

/** What `work` resolves with. Throws what `late` says when that takes longer than `withinMs`. */
export async function within<T>(withinMs: number, work: Promise<T>, late: () => string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`not within ${withinMs} ms: ${late()}`)), withinMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
