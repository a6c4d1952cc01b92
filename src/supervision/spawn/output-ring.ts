// The newest output of a host, in two files of a limited size: the current one, and the one before it.

import { chmodSync } from 'node:fs'
import { appendFile, rename, rm } from 'node:fs/promises'

/** For each of the two files. */
const HALF_BYTES = 512 * 1024

export interface OutputRing {
  readonly path: string
  /** Resolves when the lines are written, or could not be: the output is worth less than the work it reports. */
  write(lines: readonly string[]): Promise<void>
}

/** `failed` is called once, when the disk takes no more. A new ring drops what an older one left at this path. */
export function createOutputRing(path: string, failed: (error: unknown) => void, halfBytes = HALF_BYTES): OutputRing {
  let size = 0
  let isBroken = false
  let last: Promise<void> = clear(path).catch(giveUp)

  function giveUp(error: unknown): void {
    if (!isBroken) failed(error)
    isBroken = true
  }

  async function append(lines: readonly string[]): Promise<void> {
    if (isBroken) return
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    if (size > 0 && size + bytes.length > halfBytes) {
      await rename(path, before(path))
      size = 0
    }
    await appendFile(path, bytes, { mode: 0o600 })
    // The mode of an older file would stay.
    if (size === 0) chmodSync(path, 0o600)
    size += bytes.length
  }

  return {
    path,
    write(lines) {
      last = last.then(() => append(lines)).catch(giveUp)
      return last
    },
  }
}

const before = (path: string): string => `${path}.1`

async function clear(path: string): Promise<void> {
  await Promise.all([rm(path, { force: true }), rm(before(path), { force: true })])
}
