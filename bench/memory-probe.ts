// Loaded into the server with `--expose-gc --import`: on SIGUSR2 it collects garbage and writes what is alive to a file.
// Resident memory cannot show differences of a few megabytes, because V8 keeps pages that it does not need.

import { renameSync, writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { type LiveMemory, PROBE_FILE } from './live-memory.ts'

const file = process.env[PROBE_FILE]
if (file !== undefined && isMainThread) {
  process.on('SIGUSR2', () => {
    // Twice: the first pass runs finalizers, the second collects what they released.
    globalThis.gc?.()
    globalThis.gc?.()
    const { heapUsed, external, rss } = process.memoryUsage()
    const alive: LiveMemory = { aliveMb: (heapUsed + external) / 1e6, rssMb: rss / 1e6 }
    writeFileSync(`${file}.new`, JSON.stringify(alive))
    renameSync(`${file}.new`, file)
  })
}
