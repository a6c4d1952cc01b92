// Resources with a capacity. Whoever comes when all of it is used waits in line.

import type { Kernel } from '../kernel.ts'

export interface Station {
  /** Calls `done` when a server has worked on it for so long. */
  use(ms: number, done: () => void): void
  /** How long all servers together have worked. */
  readonly busyMs: number
  readonly longestLine: number
}

export function createStation(kernel: Kernel, servers: number): Station {
  const line: { ms: number; done: () => void }[] = []
  let first = 0
  let working = 0
  let busyMs = 0
  let longestLine = 0

  function begin({ ms, done }: { ms: number; done: () => void }): void {
    working += 1
    busyMs += ms
    kernel.after(ms, () => {
      working -= 1
      done()
      const next = line[first]
      if (next === undefined) return
      first += 1
      if (first > 1_000) line.splice(0, first)
      if (first > 1_000) first = 0
      begin(next)
    })
  }

  return {
    use(ms, done) {
      if (working < servers) return begin({ ms, done })
      line.push({ ms, done })
      longestLine = Math.max(longestLine, line.length - first)
    },
    get busyMs() {
      return busyMs
    },
    get longestLine() {
      return longestLine
    },
  }
}

/** A disk: a flush serves everybody who came before it began. */
export function createFlusher(kernel: Kernel, ms: number): (done: () => void) => void {
  let waiting: (() => void)[] = []
  let isFlushing = false

  function flush(): void {
    isFlushing = true
    const served = waiting
    waiting = []
    kernel.after(ms, () => {
      isFlushing = false
      for (const done of served) done()
      if (waiting.length > 0) flush()
    })
  }

  return (done) => {
    waiting.push(done)
    if (!isFlushing) flush()
  }
}
