// Temporary files for what a request sends and memory cannot hold. Each request has one. The file has no name, so nothing is left of it
// when the process dies.

import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { onDisk, systemErrorCode } from '../../domain/system-error-code.ts'

export interface TempFolder {
  /** `id` must be new. Throws `storage_full` or `storage_failed`. */
  create(id: string): Promise<TempFile>
}

export interface TempFile {
  /** Appends. Throws `storage_full` or `storage_failed`. */
  write(bytes: Uint8Array): Promise<void>
  /** Fills `bytes` from `position` on. Throws `storage_failed`. */
  fill(position: number, bytes: Buffer): Promise<void>
  /** Waits for pending reads and writes. Nothing can be read afterwards. Safe to call again. */
  close(): Promise<void>
}

/** The file system calls, so that tests can let the disk fail. */
export interface TempDisk {
  mkdir(path: string, options: { mode: number }): Promise<unknown>
  open(path: string, flags: string, mode: number): Promise<fs.FileHandle>
  rm(path: string, options: { force: true; recursive?: true }): Promise<void>
}

/** The folder belongs to this server alone. It is created when it is needed; its parent must exist. */
export function createTempFolder(dir: string, disk: TempDisk = fs): TempFolder {
  // Windows has no files without a name, so there a killed process leaves files behind.
  let emptied: Promise<void> | null = null

  async function makeFolder(): Promise<void> {
    emptied ??= disk.rm(dir, { force: true, recursive: true }).catch((error: unknown) => {
      emptied = null
      throw error
    })
    await emptied
    try {
      await disk.mkdir(dir, { mode: 0o700 })
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
  }

  async function create(id: string): Promise<TempFile> {
    await makeFolder()
    const path = join(dir, id)
    const handle = await disk.open(path, 'wx+', 0o600)
    const isNamed = process.platform === 'win32'
    if (!isNamed) {
      await disk.rm(path, { force: true }).catch(async (error: unknown) => {
        await handle.close()
        throw error
      })
    }
    let end = 0
    let closing: Promise<void> | null = null

    async function close(): Promise<void> {
      // Nobody needs the content any more, so an error does not matter.
      await handle.close().catch(() => {})
      if (isNamed) await disk.rm(path, { force: true }).catch(() => {})
    }

    return {
      write: (bytes) =>
        guarded(async () => {
          for (let written = 0; written < bytes.length; ) {
            const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, end)
            written += bytesWritten
            end += bytesWritten
          }
        }),
      async fill(position, bytes) {
        if (closing !== null) throw new Error('the body of this request was already released')
        await guarded(async () => {
          for (let read = 0; read < bytes.length; ) {
            const { bytesRead } = await handle.read(bytes, read, bytes.length - read, position + read)
            if (bytesRead === 0) throw new Error('the temporary file ends early')
            read += bytesRead
          }
        })
      },
      close() {
        closing ??= close()
        return closing
      },
    }
  }

  return { create: (id) => guarded(() => create(id)) }
}

const guarded = <T>(work: () => Promise<T>): Promise<T> => onDisk(', so the request was not accepted.', work)
