// One life of the server. Its clock and everything that it waits for come from here: once it is dead, nothing that it waited
// for ever comes true, as after kill -9.

import type { Clock } from '../../src/domain/clock.ts'
import type { Kernel } from './kernel.ts'

export interface SimProcess {
  readonly number: number
  readonly alive: boolean
  readonly clock: Clock
  /** Comes back after `ms`; never, when the process is dead by then. */
  pause(ms: number): Promise<void>
  /** Stands still, as after SIGSTOP: nothing that it waits for comes true until it goes on. */
  readonly isStopped: boolean
  stop(): void
  goOn(): void
  kill(): void
  onDeath(hear: () => void): void
}

/** The wall clock of the machine; `offset` is where it jumps. */
export interface Wall {
  offset: number
  /** How much faster it goes than true time: 0.01 is a percent. */
  drift?: number
}

export const EPOCH = 1_800_000_000_000

export function createProcess(kernel: Kernel, wall: Wall, number: number): SimProcess {
  const born = kernel.time
  const mourners: (() => void)[] = []
  let alive = true
  let isStopped = false
  /** What came true while it stood still, in order. */
  let held: (() => void)[] = []

  const guarded = (run: () => void) => () => {
    if (isStopped) held.push(run)
    else if (alive) run()
  }

  return {
    number,
    get alive() {
      return alive
    },
    clock: {
      now: () => EPOCH + Math.floor(kernel.time * (1 + (wall.drift ?? 0))) + wall.offset,
      // A new process counts from anew.
      mono: () => kernel.time - born,
      after: (ms, fire) => kernel.after(ms, guarded(fire)),
      soon: (fire) => void kernel.after(0, guarded(fire)),
    },
    pause: (ms) => new Promise((resolve) => void kernel.after(ms, guarded(resolve))),
    get isStopped() {
      return isStopped
    },
    stop() {
      isStopped = true
    },
    goOn() {
      isStopped = false
      const due = held
      held = []
      for (const [i, run] of due.entries()) kernel.after(i / 1_000, guarded(run))
    },
    kill() {
      if (!alive) return
      alive = false
      for (const hear of mourners) hear()
    },
    onDeath(hear) {
      mourners.push(hear)
    },
  }
}
