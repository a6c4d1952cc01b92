// Where the tests put their temporary files. They start thousands of stores, and each waits for the disk several times. In memory nobody
// waits, and nothing is proved less: kill -9 leaves what the kernel has, and power cuts are simulated. Tests of the disk mount their own.

import { existsSync, globSync, mkdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** The tests need a tenth of it. */
const ENOUGH_BYTES = 4_000_000_000

/** For this run. Null: the machine has no room in memory, or runs no programs there, as in some containers. Then the disk has to do. */
export const temporaryFolder = hasMemory() ? join(MEMORY, `quarterdeck-tests-${process.pid}`) : null

function hasMemory(): boolean {
  if (process.platform !== 'linux') return false
  try {
    const options = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .findLast(([, place]) => place === MEMORY)?.[3]
    const { bavail, bsize } = statfsSync(MEMORY)
    return options !== undefined && !options.split(',').includes('noexec') && bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}

/** Vitest calls this before the first test. */
export default function makeTemporaryFolder(): (() => void) | undefined {
  if (temporaryFolder === null) return
  removeLeftovers()
  mkdirSync(temporaryFolder, { mode: 0o777 })
  return () => rmSync(temporaryFolder, { recursive: true, force: true, maxRetries: 3 })
}

/** A run that was killed leaves its folder, and the memory that it takes. */
function removeLeftovers(): void {
  for (const folder of globSync(join(MEMORY, 'quarterdeck-tests-*'))) {
    const isRunning = existsSync(join('/proc', folder.slice(folder.lastIndexOf('-') + 1)))
    if (!isRunning) rmSync(folder, { recursive: true, force: true })
  }
}
