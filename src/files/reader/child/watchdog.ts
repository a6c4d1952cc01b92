// A thread that ends its own process: a parser that is caught in a loop lets no timer and no message of the main thread through.

import { Worker } from 'node:worker_threads'

/** What the process is ended with when it got nowhere, so that its parent can tell. */
export const STUCK_SIGNAL = 'SIGVTALRM'

export interface Watchdog {
  /** From now on: processor time that may be spent without a turn of the main thread's event loop. */
  allow(busyMs: number): void
}

/** Windows has no such signal; there it is simply gone. */
const ending = process.platform === 'win32' ? 'SIGKILL' : STUCK_SIGNAL

const TURN_MS = 100
const TURNS = 0
const BUSY_MS = 1

/** Also ends the process when its parent is gone: a parser in a loop never hears of that either. */
export function startWatchdog(): Watchdog {
  const shared = new Int32Array(new SharedArrayBuffer(8))
  setInterval(() => Atomics.add(shared, TURNS, 1), TURN_MS).unref()
  // Processor time, not the clock: on a busy machine an honest file may have to wait for its turn, or the machine may sleep.
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
