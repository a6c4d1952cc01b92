// A thread that ends its own process when a parser is in an endless loop: then no timer or message of the main thread runs.

import { Worker } from 'node:worker_threads'

/** The process ends itself with this signal when it is stuck, so that its parent can tell. */
export const STUCK_SIGNAL = 'SIGVTALRM'

export interface Watchdog {
  /** Sets how much processor time may pass without a turn of the main thread's event loop. */
  allow(busyMs: number): void
}

/** Windows does not have the signal; there the child just ends. */
const ending = process.platform === 'win32' ? 'SIGKILL' : STUCK_SIGNAL

const TURN_MS = 100
const TURNS = 0
const BUSY_MS = 1

/** Also ends the process when its parent is gone: a parser in a loop does not notice that either. */
export function startWatchdog(): Watchdog {
  const shared = new Int32Array(new SharedArrayBuffer(8))
  setInterval(() => Atomics.add(shared, TURNS, 1), TURN_MS).unref()
  // Measures processor time, not the clock: on a busy machine the process may have to wait for the processor, or the machine may sleep.
  new Worker(
    `const { workerData: shared } = require('node:worker_threads')
     const parent = process.ppid
     const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1_000 }
     let turns = -1
     let since = 0
     setInterval(() => {
       if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
       const now = Atomics.load(shared, ${TURNS})
       const limit = Atomics.load(shared, ${BUSY_MS})
       if (now !== turns) {
         turns = now
         since = spent()
       } else if (limit > 0 && spent() - since > limit) process.kill(process.pid, '${ending}')
     }, ${TURN_MS})`,
    { eval: true, workerData: shared, resourceLimits: { maxOldGenerationSizeMb: 8 } },
  ).unref()
  return { allow: (busyMs) => void Atomics.store(shared, BUSY_MS, busyMs) }
}
