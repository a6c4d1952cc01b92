// Bytes on disk, under their hash. A file appears there whole or not at all: it is written beside, synced, then renamed.

import * as fs from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ServerError } from '../../domain/errors.ts'

export interface BlobFolder {
  /** A file of its own that is being written; nobody finds it until it is kept. */
  begin(id: string): Promise<IncomingBlob>
  pathOf(sha256: string): string
  /** All hashes, in pieces. */
  hashes(): AsyncIterable<string[]>
  /** Removes it if it was written before `before` (wall clock). */
  remove(sha256: string, before: number): Promise<boolean>
  /** Removes what was begun and never ended. */
  removeIncoming(before: number): Promise<void>
}

export interface IncomingBlob {
  readonly path: string
  write(bytes: Uint8Array): Promise<void>
  /** Closes it. What was written is on disk. */
  sync(): Promise<void>
  /** Gives it its place. One of the same hash has the same bytes, so that it may be replaced. */
  keepAs(sha256: string): Promise<void>
  /** Removes it unless it was kept. Never throws. */
  discard(): Promise<void>
}

/** What is asked of the file system: for tests of a disk that fails. */
export interface Disk {
  mkdir(path: string, options: { mode: number }): Promise<unknown>
  open(path: string, flags: string, mode?: number): Promise<fs.FileHandle>
  readdir(path: string): Promise<string[]>
  rename(from: string, to: string): Promise<void>
  rm(path: string, options: { force: true }): Promise<void>
  stat(path: string): Promise<{ mtimeMs: number }>
}

const INCOMING = 'incoming-'
const FOLDER = /^[0-9a-f]{2}$/
const HASH = /^[0-9a-f]{64}$/

/** The folder is made when the first file comes; the one above it must be there. */
export function createBlobFolder(dir: string, disk: Disk = fs): BlobFolder {
  const root = resolve(dir)
  const folderOf = (sha256: string): string => join(root, sha256.slice(0, 2))
  const pathOf = (sha256: string): string => join(folderOf(sha256), sha256)

  /** A name is safe from a power cut once the folder that it stands in is synced. */
  async function syncFolder(path: string): Promise<void> {
    // Windows knows no such thing.
    if (process.platform === 'win32') return
    const handle = await disk.open(path, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }

  async function makeFolder(path: string): Promise<void> {
    try {
      await disk.mkdir(path, { mode: 0o700 })
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return
      throw error
    }
    await syncFolder(join(path, '..'))
  }

  async function begin(id: string): Promise<IncomingBlob> {
    await makeFolder(root)
    const path = join(root, `${INCOMING}${id}`)
    const handle = await disk.open(path, 'wx', 0o600)
    let isKept = false
    return {
      path,
      async write(bytes) {
        let written = 0
        while (written < bytes.length) {
          const { bytesWritten } = await guarded(() => handle.write(bytes, written))
          written += bytesWritten
        }
      },
      sync: () =>
        guarded(async () => {
          await handle.sync()
          await handle.close()
        }),
      keepAs: (sha256) =>
        guarded(async () => {
          await makeFolder(folderOf(sha256))
          await disk.rename(path, pathOf(sha256))
          isKept = true
          await syncFolder(folderOf(sha256))
        }),
      async discard() {
        await handle.close().catch(() => {})
        // What cannot be removed now is swept up later.
        if (!isKept) await disk.rm(path, { force: true }).catch(() => {})
      },
    }
  }

  async function* hashes(): AsyncGenerator<string[]> {
    for (const folder of await namesIn(root)) {
      if (!FOLDER.test(folder)) continue
      const names = (await namesIn(join(root, folder))).filter((name) => HASH.test(name) && name.startsWith(folder))
      for (let i = 0; i < names.length; i += HASHES_AT_ONCE) yield names.slice(i, i + HASHES_AT_ONCE)
    }
  }

  async function namesIn(path: string): Promise<string[]> {
    try {
      return await disk.readdir(path)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    }
  }

  async function isOlder(path: string, before: number): Promise<boolean> {
    const found = await disk.stat(path).catch(() => null)
    return found !== null && found.mtimeMs < before
  }

  return {
    begin: (id) => guarded(() => begin(id)),
    pathOf,
    hashes,
    async remove(sha256, before) {
      if (!(await isOlder(pathOf(sha256), before))) return false
      await disk.rm(pathOf(sha256), { force: true })
      return true
    },
    async removeIncoming(before) {
      for (const name of await namesIn(root)) {
        if (!name.startsWith(INCOMING)) continue
        if (await isOlder(join(root, name), before)) await disk.rm(join(root, name), { force: true })
      }
    },
  }
}

const HASHES_AT_ONCE = 500

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new ServerError('storage_full', 'The disk is full: the file was not kept. Free some space and try again.', {
        cause,
      })
    }
    throw new ServerError('storage_failed', 'The disk failed: the file was not kept.', { cause })
  }
}
