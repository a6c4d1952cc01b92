/** Runs what it is given, a few at a time, in order. */
export type StartQueue = (start: () => Promise<void>) => Promise<void>

/** Programs that start all at once would take the machine from those who wait for an answer. */
const AT_ONCE = 4

export function createStartQueue(atOnce: number = AT_ONCE): StartQueue {
  const waiting: (() => void)[] = []
  let running = 0
  return async (start) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      await start()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
