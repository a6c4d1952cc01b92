// A server of its own process, whose memory is its own: tells its port, then, when it is asked, its memory at rest, its peak, and the
// longest time that it computed without looking at its connections.

import { readFileSync } from 'node:fs'
import { openDoors } from '../../../testing/open-doors.ts'
import { openFiles } from './open-files.ts'

const opened = process.argv[2] === 'json' ? await openDoors() : await openFiles()
const idle = process.memoryUsage().rss
let longest = 0
let last = cpu()
const watching = setInterval(turn, 1)
process.send?.({ port: Number(new URL(opened.url).port) })
process.once('message', async () => {
  clearInterval(watching)
  process.send?.({ idle, peak: peakBytes(), longestMs: longest / 1000 })
  await opened[Symbol.asyncDispose]()
  process.disconnect()
})

function turn(): void {
  const now = cpu()
  longest = Math.max(longest, now - last)
  last = now
}

/** Of this thread: time in which the machine was busy with others does not count. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** What `maxRSS` says counts the process that started this one: it was a copy of that, for a moment. */
function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}
