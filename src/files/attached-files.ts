import { readFile } from 'node:fs/promises'
import type { Extract, FileRecord } from '../domain/session/file.ts'
import type { FileKeeper } from './file-keeper.ts'
import type { FileReader, Progress, ReadableFile, UnreadSections } from './file-reader.ts'
import { sweepExtracts } from './reader/extract-cache.ts'

interface AttachedFilesDeps {
  keeper: FileKeeper
  reader: FileReader
  /** Where the reader keeps the extracts. */
  cacheDir: string
  store: { knownHashes(hashes: readonly string[]): Promise<string[]> }
}

/** Keeper and reader together, as the engine uses them. */
export function createAttachedFiles({ keeper, reader, cacheDir, store }: AttachedFilesDeps) {
  async function withFile<T>(file: FileRecord, work: (file: ReadableFile) => Promise<T>): Promise<T> {
    using open = await keeper.open(file)
    const { mimeType, bytes, sha256 } = file
    return await work({ path: open.path, mimeType, bytes, sha256 })
  }
  return {
    /** Throws `file_unreadable` and everything else that `FileReader` throws. */
    read: (file: FileRecord, signal: AbortSignal, onProgress?: Progress, unread?: UnreadSections): Promise<Extract> =>
      withFile(file, (readable) => reader.read(readable, signal, onProgress, unread)),
    /** Makes a JPEG of at most `maxBytes` from a picture. Throws `file_unreadable`. */
    shrink: (file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer> =>
      withFile(file, (readable) => reader.shrink(readable, maxBytes, signal)),
    bytes: (file: FileRecord): Promise<Buffer> => withFile(file, ({ path }) => readFile(path)),
    /** Removes the bytes and extracts of files that no session has any more. */
    async sweep(): Promise<void> {
      await keeper.sweep()
      await reader.sweep()
      await sweepExtracts(cacheDir, (hashes) => store.knownHashes(hashes))
    },
  }
}

export type AttachedFiles = ReturnType<typeof createAttachedFiles>
