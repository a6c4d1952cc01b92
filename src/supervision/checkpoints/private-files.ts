import { constants } from 'node:fs'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import type { Disk } from './workspace-folder.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants

/** Whole files that only this user can read. Nothing follows a link. */
export function createPrivateFiles(disk: Disk) {
  function within<T>(path: string, flags: number, work: (fd: number) => T): T {
    const fd = disk.openSync(path, flags, 0o600)
    try {
      return work(fd)
    } finally {
      disk.closeSync(fd)
    }
  }

  const syncFile = (path: string): void => within(path, O_RDONLY, (fd) => disk.fsyncSync(fd))

  return {
    exists: (path: string) => disk.lstatSync(path, { throwIfNoEntry: false }) !== undefined,
    makeFolder: (path: string) => void disk.mkdirSync(path, { recursive: true, mode: 0o700 }),
    /** Throws if there is such a file. */
    write: (path: string, bytes: Buffer, isSynced: boolean) =>
      within(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (fd) => {
        for (let at = 0; at < bytes.length; ) at += disk.writeSync(fd, bytes, at)
        if (isSynced) disk.fsyncSync(fd)
      }),
    readAll: (path: string) =>
      within(path, O_RDONLY | O_NOFOLLOW, (fd) => {
        const bytes = Buffer.allocUnsafe(disk.fstatSync(fd).size)
        let at = 0
        while (at < bytes.length) {
          const got = disk.readSync(fd, bytes, at, bytes.length - at, at)
          if (got === 0) break
          at += got
        }
        return bytes.subarray(0, at)
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
