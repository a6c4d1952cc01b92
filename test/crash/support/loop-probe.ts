// Loaded into a server before its program. Reports how long the event loop was blocked at most. It counts processor time of the
// thread, because on a busy machine a turn may be late for other reasons.
//   NODE_OPTIONS="--import file:///…/loop-probe.ts" LOOP_PROBE_FILE=…
// Each SIGUSR2 writes the longest turn since the last signal, in milliseconds, and starts again.

import { writeFileSync } from 'node:fs'

const EVERY_MS = 2

const spent = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

let last = spent()
let longest = 0
setInterval(() => {
  const now = spent()
  longest = Math.max(longest, now - last)
  last = now
}, EVERY_MS).unref()

process.on('SIGUSR2', () => {
  writeFileSync(process.env.LOOP_PROBE_FILE ?? '', String(longest))
  longest = 0
  last = spent()
})
