// What a request brings and memory cannot hold: one file for each request, without a name, so that nothing is left of it whatever
// happens to the process.

import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { ServerError } from '../../domain/errors.ts'

export interface TempFolder {
  /** `id` must be new. Throws `storage_full` or `storage_failed`. */
  create(id: string): Promise<TempFile>
}

export interface TempFile {
  /** Behind what is there. Throws `storage_full` or `storage_failed`. */
  write(bytes: Uint8Array): Promise<void>
  /** Fills `bytes` with what is at `position`. Throws `storage_failed`. */
  fill(position: number, bytes: Buffer): Promise<void>
  /** May be called again. What is on its way is waited for; afterwards there is nothing to be read. */
  close(): Promise<void>
}

/** What is asked of the file system: for tests of a disk that fails. */
export interface TempDisk {
  mkdir(path: string, options: { mode: number }): Promise<unknown>
  open(path: string, flags: string, mode: number): Promise<fs.FileHandle>
  rm(path: string, options: { force: true; recursive?: true }): Promise<void>
}

/** The folder is this server's alone and made when it is needed; the one above it must be there. */
export function createTempFolder(dir: string, disk: TempDisk = fs): TempFolder {
  // Windows has no files without a name: there a killed process leaves some behind.
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
      if (codeOf(error) !== 'EEXIST') throw error
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
      // Nothing of it is wanted any more, so that nothing can be lost.
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
        if (closing !== null) throw new Error('what a request has let go is read no more')
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

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      const detail = 'The disk is full: the request was not taken. Free some space and try again.'
      throw new ServerError('storage_full', detail, { cause })
    }
    throw new ServerError('storage_failed', 'The disk failed: the request was not taken.', { cause })
  }
}
