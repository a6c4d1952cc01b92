/** How long callers wait for a server to start. Here, so that a start without MCP servers does not load what they need. */
export const PATIENCE_MS = 5_000

/** Runs the given functions in order, a few at a time. */
export type StartQueue = (start: () => Promise<void>) => Promise<void>

/** Many programs that start at once would slow down everybody who waits for an answer. */
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
