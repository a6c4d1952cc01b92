// Keeps the write-ahead log from taking all space on the disk. Moving the log into the database takes as much space again. If the log had
// taken all, it could never be moved: nothing could be written any more, and deleting sessions would not help.

import { statfsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Command } from '../../ports/command.ts'
import { diskFull, isDiskFull } from './storage-error.ts'

/** Free bytes from which on nothing has to be counted. */
const PLENTY = 128_000_000
/** With plenty of space, the disk is looked at once in so many commits. */
const COMMITS_BETWEEN_LOOKS = 32
/** The log is moved when it takes this part of the space. */
const SHARE_OF_LOG = 1 / 4
/** For each byte of a command so many are written, with indexes and with pages that are rewritten. Seen: up to 3. */
const WRITTEN_PER_BYTE = 4
/** What a command without a text may write. */
const SMALL_COMMAND = 16 * 1024

/** What must be left over. New work is refused first, so that runs can end, and so that somebody can make space. */
const FOR_NEW_WORK = 2_000_000
const LEFT_OVER: Partial<Record<Command['type'], number>> = {
  accept_run: FOR_NEW_WORK,
  create_session: FOR_NEW_WORK,
  import_session: FOR_NEW_WORK,
  import_records: FOR_NEW_WORK,
  add_file: FOR_NEW_WORK,
  append: 1_000_000,
}

/** What a command may write, once. The frame of a piece of text is in its event already. */
export const writtenBy = (command: Command): number =>
  JSON.stringify(command, (key, value) => (key === 'frame' ? undefined : value)).length * WRITTEN_PER_BYTE +
  SMALL_COMMAND

export function createDiskSpace(db: DatabaseSync, folder: string) {
  const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.page_size)
  const log = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  const move = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)')
  const unused = db.prepare('PRAGMA freelist_count')
  const bytesFree = () => {
    try {
      const { blocks, bavail, bsize } = statfsSync(folder)
      // Some network and user file systems say nothing about their size.
      return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize
    } catch {
      return Number.POSITIVE_INFINITY
    }
  }
  const bytesInLog = () => {
    const row = log.get()
    return (Number(row?.log) - Number(row?.checkpointed)) * pageBytes
  }
  let commits = COMMITS_BETWEEN_LOOKS
  /** What may be written until the next look. */
  let space = Number.POSITIVE_INFINITY
  /** What the database can take without growing: pages of what was deleted, as far as the log does not need them. */
  let spare = 0
  /** Once into the log, and once into the database. */
  const needed = (bytes: number): number => bytes + Math.max(0, bytes - spare)

  function tryToMove(): void {
    // Nobody waits for a reader of the log. The next commit tries again.
    db.exec('PRAGMA busy_timeout = 0')
    try {
      move.get()
    } catch (error) {
      // Then there is no space for new work either.
      if (!isDiskFull(error)) throw error
    } finally {
      db.exec('PRAGMA busy_timeout = 1000')
    }
  }

  return {
    /** Call it before a commit. Moves the log when it takes too much of the space that is left. Throws errors of SQLite. */
    look(): void {
      commits += 1
      if (space === Number.POSITIVE_INFINITY && commits < COMMITS_BETWEEN_LOOKS) return
      commits = 0
      let free = bytesFree()
      if (free >= PLENTY) {
        space = Number.POSITIVE_INFINITY
        return
      }
      if (bytesInLog() > free * SHARE_OF_LOG) {
        tryToMove()
        free = bytesFree()
      }
      const growth = bytesInLog() - Number(unused.get()?.freelist_count) * pageBytes
      space = free - Math.max(0, growth)
      spare = Math.max(0, -growth)
    },
    /** Throws `storage_full` if there is no space for the command, now or when the log is moved. */
    refuse(command: Command): void {
      if (space === Number.POSITIVE_INFINITY) return
      const bytes = writtenBy(command)
      if (space - needed(bytes) < (LEFT_OVER[command.type] ?? 0)) throw diskFull(null)
      space -= needed(bytes)
      spare = Math.max(0, spare - bytes)
    },
    /** Whether there is space for new work, when a text of so many characters has been written. */
    hasSpace: (chars = 0): boolean => space - needed(chars * WRITTEN_PER_BYTE + SMALL_COMMAND) >= FOR_NEW_WORK,
  }
}
