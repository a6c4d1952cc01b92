// Loaded into a server before its own program: tells how long its event loop was ever held up. Processor time of the thread
// counts, not the clock: on a machine that is busy with other things a turn may be late without anybody's fault.
//   NODE_OPTIONS="--import file:///…/loop-probe.ts" LOOP_PROBE_FILE=…
// Each SIGUSR2 writes the longest turn since the last one, in milliseconds, and begins anew.

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
