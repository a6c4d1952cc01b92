import { constants } from 'node:fs'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { type Disk, readInto, withFile, writeAll } from './workspace-folder.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** Whole files that only this user can read. Nothing follows a link. */
export function createPrivateFiles(disk: Disk) {
  const syncFile = (path: string): void => withFile(disk, path, O_RDONLY, (fd) => disk.fsyncSync(fd))

  return {
    exists: (path: string) => disk.lstatSync(path, { throwIfNoEntry: false }) !== undefined,
    makeFolder: (path: string) => void disk.mkdirSync(path, { recursive: true, mode: 0o700 }),
    /** Throws if there is such a file. */
    write: (path: string, bytes: Buffer, isSynced: boolean) =>
      withFile(disk, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (fd) => {
        writeAll(disk, fd, bytes)
        if (isSynced) disk.fsyncSync(fd)
      }),
    readAll: (path: string) =>
      withFile(disk, path, O_RDONLY | O_NOFOLLOW, (fd) => {
        const bytes = Buffer.allocUnsafe(disk.fstatSync(fd).size)
        return bytes.subarray(0, readInto(disk, fd, bytes))
      }),
    /** None if there is no such folder. */
    namesIn(path: string): string[] {
      try {
        return disk.readdirSync(path)
      } catch (error) {
        if (systemErrorCode(error) === 'ENOENT') return []
        throw error
      }
    },
    syncFile,
    syncFolder(path: string): void {
      // Windows cannot sync folders.
      if (process.platform !== 'win32') syncFile(path)
    },
  }
}
