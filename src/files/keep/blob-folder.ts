// Stores bytes on disk under their hash. A file appears there whole or not at all: it is written beside, synced, then renamed.

import * as fs from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { onDisk, systemErrorCode } from '../../domain/system-error-code.ts'

/** Where the keeper puts bytes. */
export interface Blobs {
  /** Starts a new file. Nobody finds it until it is kept. */
  begin(id: string): Promise<IncomingBlob>
  /** The bytes as a file on this machine. Until it is disposed of, the file stays. If there are no such bytes, there is no file. */
  open(sha256: string): Promise<OpenBlob>
  /** All hashes, in groups. */
  hashes(): AsyncIterable<string[]>
  /** Removes the bytes if they were written before `before` (wall clock). */
  remove(sha256: string, before: number): Promise<boolean>
  /** Removes files that were begun before `before` and never kept. */
  removeIncoming(before: number): Promise<void>
}

export interface OpenBlob extends Disposable {
  /** Absolute. */
  readonly path: string
}

export interface BlobFolder extends Blobs {
  begin(id: string): Promise<IncomingBlob & { close(): Promise<void> }>
  pathOf(sha256: string): string
}

interface IncomingBlob {
  readonly path: string
  write(bytes: Uint8Array): Promise<void>
  /** Closes the file once its bytes are on disk. */
  sync(): Promise<void>
  /** Moves the file to its place. It may replace a file of the same hash, which has the same bytes. */
  keepAs(sha256: string): Promise<void>
  /** Removes the file unless it was kept. Never throws. */
  discard(): Promise<void>
}

/** The calls to the file system, so that tests can use a disk that fails. */
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

/** Creates the folder with the first file. The parent folder must exist. */
export function createBlobFolder(dir: string, disk: Disk = fs): BlobFolder {
  const root = resolve(dir)
  const folderOf = (sha256: string): string => join(root, sha256.slice(0, 2))
  const pathOf = (sha256: string): string => join(folderOf(sha256), sha256)

  /** A file name survives a power cut once its folder is synced. */
  async function syncFolder(path: string): Promise<void> {
    // Windows cannot sync folders.
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
      if (systemErrorCode(error) === 'EEXIST') return
      throw error
    }
    await syncFolder(join(path, '..'))
  }

  async function begin(id: string): Promise<IncomingBlob & { close(): Promise<void> }> {
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
      close: () => guarded(() => handle.close()),
      keepAs: (sha256) =>
        guarded(async () => {
          await makeFolder(folderOf(sha256))
          await disk.rename(path, pathOf(sha256))
          isKept = true
          await syncFolder(folderOf(sha256))
        }),
      async discard() {
        await handle.close().catch(() => {})
        // A later sweep removes what cannot be removed now.
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
      if (systemErrorCode(error) === 'ENOENT') return []
      throw error
    }
  }

  async function isOlder(path: string, before: number): Promise<boolean> {
    const found = await disk.stat(path).catch(() => null)
    return found !== null && found.mtimeMs < before
  }

  return {
    begin: (id) => guarded(() => begin(id)),
    open: async (sha256) => ({ path: pathOf(sha256), [Symbol.dispose]() {} }),
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

const guarded = <T>(work: () => Promise<T>): Promise<T> => onDisk(': the file was not saved.', work)
