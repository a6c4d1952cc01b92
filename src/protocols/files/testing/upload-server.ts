// A server of its own process, whose memory is its own: tells its port, then, when it is asked, its memory at rest and its peak.

import { readFileSync } from 'node:fs'
import { openFiles } from './open-files.ts'

const opened = await openFiles()
const idle = process.memoryUsage().rss
process.send?.({ port: opened.server.port })
process.once('message', async () => {
  process.send?.({ idle, peak: peakBytes() })
  await opened[Symbol.asyncDispose]()
  process.disconnect()
})

/** What `maxRSS` says counts the process that started this one: it was a copy of that, for a moment. */
function peakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}
