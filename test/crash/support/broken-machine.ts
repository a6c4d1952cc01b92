// Disks that fail and clocks that jump, under an unmodified server.

import { execFile } from 'node:child_process'
import { mkdir, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Yard } from './start-server.ts'

const run = promisify(execFile)
const source = fileURLToPath(new URL('./fault-shim.c', import.meta.url))

export interface BrokenMachine {
  /** The environment for the server under test. */
  readonly env: Readonly<Record<string, string>>
  break(what: Fault): Promise<void>
  mend(what: Fault): Promise<void>
  /** Sets how far the server's clocks are off, in ms. A monotonic clock may only be moved forward: it is time that passes. */
  moveClocks(by: { wall?: number; monotonic?: number }): Promise<void>
}

export type Fault = 'eio-wal' | 'eio-db' | 'enospc'

/** Null when the shim cannot be compiled or loaded. */
export async function breakMachine({ directory }: Pick<Yard, 'directory'>): Promise<BrokenMachine | null> {
  if (process.platform !== 'linux') return null
  const folder = join(directory, 'faults')
  await mkdir(folder)
  const library = join(folder, 'shim.so')
  const clock = join(folder, 'clock')
  try {
    await run('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'])
  } catch {
    return null
  }
  await writeFile(clock, Buffer.alloc(16))
  return {
    env: { LD_PRELOAD: library, FAULT_DIR: folder },
    break: (what) => writeFile(join(folder, what), ''),
    mend: (what) => rm(join(folder, what), { force: true }),
    async moveClocks({ wall = 0, monotonic = 0 }) {
      const offsets = BigInt64Array.of(BigInt(wall) * 1_000n, BigInt(monotonic) * 1_000n)
      // Written in place, because the server has the file mapped.
      const file = await open(clock, 'r+')
      await file.write(new Uint8Array(offsets.buffer), 0, 16, 0)
      await file.close()
    },
  }
}

export interface SmallDisk {
  readonly kind: string
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  /** A file system of its own can be left with some free bytes. */
  fill(leave?: number): Promise<void>
  free(): Promise<void>
}

const DISK_BYTES = 16 * 1024 * 1024

/** A disk that can be filled up: its own file system if we may mount one, else a shim. Null when neither works. */
export async function openSmallDisk(
  yard: Yard,
  onEnd: (clean: () => Promise<void>) => void,
): Promise<SmallDisk | null> {
  return (await mountSmallDisk(yard, onEnd, DISK_BYTES)) ?? (await pretendSmallDisk(yard))
}

/** A file system of its own. Null when we may not mount one. */
export async function mountSmallDisk(
  { directory }: Yard,
  onEnd: (clean: () => Promise<void>) => void,
  bytes: number,
): Promise<SmallDisk | null> {
  const mountPoint = join(directory, 'disk')
  const filler = join(mountPoint, 'filler')
  try {
    await mkdir(mountPoint)
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', mountPoint])
  } catch {
    return null
  }
  onEnd(async () => {
    await run('umount', ['--lazy', mountPoint])
  })
  const dataDir = join(mountPoint, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  return {
    kind: 'tmpfs',
    dataDir,
    env: {},
    async fill(leave = 0) {
      const file = await open(filler, 'w')
      const block = Buffer.alloc(64 * 1024, 1)
      // A write may fit in part. The disk is full when not a single byte fits.
      for (let full = false; !full; ) {
        await file.write(block).catch((error: NodeJS.ErrnoException) => {
          full = error.code === 'ENOSPC'
          if (!full) throw error
        })
      }
      await file.truncate((await file.stat()).size - leave)
      await file.close()
    },
    free: () => rm(filler),
  }
}

async function pretendSmallDisk(yard: Yard): Promise<SmallDisk | null> {
  const machine = await breakMachine(yard)
  if (machine === null) return null
  return {
    kind: 'shim',
    dataDir: yard.dataDir,
    env: machine.env,
    fill: () => machine.break('enospc'),
    free: () => machine.mend('enospc'),
  }
}
