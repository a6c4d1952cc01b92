import { readFile } from 'node:fs/promises'
import type { Extract, FileRecord } from '../domain/file.ts'
import type { FileKeeper } from './file-keeper.ts'
import type { FileReader, GoOn, ReadableFile } from './file-reader.ts'
import { sweepExtracts } from './reader/extract-cache.ts'

export interface AttachedFiles {
  /** Throws `file_unreadable`, and what else `FileReader` throws. */
  read(
    file: FileRecord,
    signal: AbortSignal,
    onProgress?: (done: number, total: number) => void,
    goOn?: GoOn,
  ): Promise<Extract>
  bytes(file: FileRecord): Promise<Buffer>
  /** A picture as a JPEG of at most so many bytes. Throws `file_unreadable`. */
  shrink(file: FileRecord, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Removes bytes and words of files that no session has any more. */
  sweep(): Promise<void>
}

export interface AttachedFilesDeps {
  keeper: FileKeeper
  reader: FileReader
  /** Where the reader keeps the words. */
  cacheDir: string
  store: { knownHashes(hashes: readonly string[]): Promise<string[]> }
}

/** Keeper and reader as the engine sees them: what a session has, and what is in it. */
export function createAttachedFiles({ keeper, reader, cacheDir, store }: AttachedFilesDeps): AttachedFiles {
  const readable = (file: FileRecord): ReadableFile => {
    const { mimeType, bytes, sha256 } = file
    return { path: keeper.pathOf(file), mimeType, bytes, sha256 }
  }
  return {
    read: (file, signal, onProgress, goOn) => reader.read(readable(file), signal, onProgress, goOn),
    shrink: (file, maxBytes, signal) => reader.shrink(readable(file), maxBytes, signal),
    bytes: (file) => readFile(keeper.pathOf(file)),
    async sweep() {
      await keeper.sweep()
      await reader.sweep()
      await sweepExtracts(cacheDir, (hashes) => store.knownHashes(hashes))
    },
  }
}
