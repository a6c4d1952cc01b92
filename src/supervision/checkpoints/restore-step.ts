// One step of a restore: one file or link gets the state of the checkpoint, or goes away. A step can be repeated: it compares what is
// there with what was there and with what shall be there.

import { constants } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../domain/errors.ts'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { foldersAbove } from '../../domain/text/ignore-rules.ts'
import { isSameEntry, readEntry, type WorkspaceEntry } from './read-entry.ts'
import { type SnapshotStore, storageError } from './snapshot-store.ts'
import {
  type Disk,
  FolderMoved,
  openWorkspaceFolder,
  type WorkspaceFolder,
  withFile,
  writeAll,
} from './workspace-folder.ts'

export type RestoreStep = [path: string, from: WorkspaceEntry | null, to: WorkspaceEntry | null]

export type NotRestoredReason =
  /** The checkpoint has only the hash of this file. */
  | 'no_content'
  /** Somebody changed it during the restore. */
  | 'changed'
  /** A folder, a link in its path or a special file is in its place. */
  | 'in_the_way'
  /** The kept bytes are gone or damaged. */
  | 'damaged'
  /** The system did not allow it. */
  | 'failed'

interface StepPlace {
  workspaceRoot: string
  /** Names the file that is being written. */
  restoreId: string
}

/** Null: it is done, or was done already. Throws only what concerns the whole restore, such as a full disk. */
export const applyStep = (
  disk: Disk,
  store: Pick<SnapshotStore, 'readBlob'>,
  place: StepPlace,
  step: RestoreStep,
): NotRestoredReason | null => attempt(() => takeStep(disk, store, place, step))

/** What concerns one file alone becomes its reason. A full disk concerns all: it throws, and the journal stays. */
function attempt(work: () => NotRestoredReason | null): NotRestoredReason | null {
  try {
    return work()
  } catch (error) {
    if (error instanceof FolderMoved) return 'in_the_way'
    if (hasCode(error, 'storage_failed')) return 'damaged'
    const code = systemErrorCode(error)
    if (code === 'ENOSPC' || code === 'EDQUOT') throw storageError(error)
    if (code === '') throw error
    return code === 'EISDIR' || code === 'ENOTDIR' || code === 'EEXIST' ? 'in_the_way' : 'failed'
  }
}

function takeStep(
  disk: Disk,
  store: Pick<SnapshotStore, 'readBlob'>,
  { workspaceRoot, restoreId }: StepPlace,
  [path, from, to]: RestoreStep,
): NotRestoredReason | null {
  const { folder, name } = placeOf(path)
  using open = to === null ? openIfThere(disk, workspaceRoot, folder) : openOrMake(disk, workspaceRoot, folder)
  // Nothing is there to remove.
  if (open === null) return null
  const temporary = open.at(`.quarterdeck-${restoreId}`)
  disk.rmSync(temporary, { force: true })
  const read = readEntry(disk, open.at(name))
  // A file whose place a folder took is removed. After a kill that may be a folder which we made.
  if ('folder' in read) return to === null ? null : 'in_the_way'
  if ('skipped' in read) return read.skipped === 'special' ? 'in_the_way' : 'failed'
  const present = 'entry' in read ? read.entry : null
  if (isSameEntry(present, to)) return null
  if (!isSameEntry(present, from)) return 'changed'
  if (to === null) disk.unlinkSync(open.at(name))
  else if (to.type === 'file' && present?.type === 'file' && present.sha256 === to.sha256) {
    setMode(disk, open.at(name), to.mode)
  } else {
    if (to.type === 'link') disk.symlinkSync(to.target, temporary)
    else writeFile(disk, temporary, store.readBlob(to.sha256, to.bytes), to.mode)
    disk.renameSync(temporary, open.at(name))
  }
  open.sync()
  return null
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants

const writeFile = (disk: Disk, path: string, bytes: Buffer, mode: number): void =>
  withFile(disk, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (fd) => {
    writeAll(disk, fd, bytes)
    disk.fchmodSync(fd, mode)
    disk.fsyncSync(fd)
  })

const setMode = (disk: Disk, path: string, mode: number): void =>
  withFile(disk, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, (fd) => {
    disk.fchmodSync(fd, mode)
    disk.fsyncSync(fd)
  })

function openIfThere(disk: Disk, root: string, folder: string): WorkspaceFolder | null {
  try {
    return openWorkspaceFolder(disk, root, folder)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    // After a kill a file that we wrote may stand where the folder was.
    if (error instanceof FolderMoved && isBelowFile(disk, root, folder)) return null
    throw error
  }
}

/** Whether the first part of the path that is not a folder is a file. A link is not: it may lead anywhere. */
function isBelowFile(disk: Disk, root: string, folder: string): boolean {
  for (const above of foldersAbove(folder).reverse()) {
    const found = disk.lstatSync(join(root, above), { throwIfNoEntry: false })
    if (found?.isDirectory() !== true) return found?.isFile() === true
  }
  return false
}

function openOrMake(disk: Disk, root: string, folder: string): WorkspaceFolder {
  const found = folder === '' ? openWorkspaceFolder(disk, root, folder) : openIfThere(disk, root, folder)
  if (found !== null) return found
  const place = placeOf(folder)
  using parent = openOrMake(disk, root, place.folder)
  disk.mkdirSync(parent.at(place.name))
  parent.sync()
  return openWorkspaceFolder(disk, root, folder)
}

/** Best effort: a folder with anything else in it stays. */
export function removeIfEmpty(disk: Disk, root: string, folder: string): void {
  const { folder: above, name } = placeOf(folder)
  attempt(() => {
    using open = openIfThere(disk, root, above)
    if (open === null) return null
    disk.rmdirSync(open.at(name))
    open.sync()
    return null
  })
}

export const placeOf = (path: string): { folder: string; name: string } => {
  const at = path.lastIndexOf('/')
  return { folder: path.slice(0, Math.max(0, at)), name: path.slice(at + 1) }
}
