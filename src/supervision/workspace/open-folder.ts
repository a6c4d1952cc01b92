// An open folder of a workspace. An agent may replace a folder by a link between our check and our write. So on Linux each folder is
// opened from the one above it, without following links, and files are reached through the descriptor: a swap has no effect. Elsewhere
// Node offers no such way; there the path is checked right before each use, and a swap within microseconds remains possible.

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readlink, realpath, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { violation } from './confine.ts'

/** Closes when the scope of its `await using` ends. */
export interface OpenFolder extends AsyncDisposable {
  /** A path that leads to `name` in this folder. */
  at(name: string): string
  /** Throws `path_violation` if the folder is no longer where it was in the workspace. */
  check(): Promise<void>
  /** Without this, a power cut may undo a rename. */
  sync(): Promise<void>
  /** Removes the folders that opening this one created, as far as they are empty. */
  undo(): Promise<void>
}

const windows = process.platform === 'win32'
const OPEN_FOLDER = windows
  ? constants.O_RDONLY
  : constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Opens a folder, given by its parts below the real root. Null if it does not exist and `create` is false; new folders are on disk
 * when this returns.
 */
export async function openFolder(
  root: string,
  folders: readonly string[],
  { create }: { create: boolean },
): Promise<OpenFolder | null> {
  const created: string[] = []
  let path = root
  let handle = await openRoot(root)
  try {
    await checkPlace(handle, root)
    for (const folder of folders) {
      const parent = handle
      const inner = join(path, folder)
      const way = wayTo(parent, path, folder)
      if (create && (await makeFolder(way, inner))) {
        created.push(inner)
        await syncHandle(parent)
      }
      const next = await openAt(way, inner)
      await parent.close()
      handle = next
      path = inner
    }
    await checkPlace(handle, path)
  } catch (error) {
    await handle.close().catch(() => {})
    await removeFolders(created)
    if (systemErrorCode(error) === 'ENOENT' && !create) return null
    throw error
  }
  const [place, last] = [path, handle]
  return {
    at: (name) => wayTo(last, place, name),
    check: () => checkPlace(last, place),
    sync: () => syncHandle(last),
    undo: () => removeFolders(created),
    [Symbol.asyncDispose]: () => last.close(),
  }
}

const wayTo = (folder: FileHandle, path: string, name: string): string =>
  process.platform === 'linux' ? `/proc/self/fd/${folder.fd}/${name}` : join(path, name)

async function openRoot(root: string): Promise<FileHandle> {
  try {
    return await openAt(root, root)
  } catch (error) {
    throw systemErrorCode(error) === 'ENOENT' ? violation(root, 'the workspace is gone') : error
  }
}

async function openAt(way: string, path: string): Promise<FileHandle> {
  try {
    return await open(way, OPEN_FOLDER)
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ELOOP' || code === 'ENOTDIR')
      throw violation(path, 'a folder was replaced by a link or a file meanwhile')
    if (code === 'ENOENT') throw error
    throw violation(path, `the folder cannot be opened (${code})`)
  }
}

/** Whether it was created now. */
async function makeFolder(way: string, path: string): Promise<boolean> {
  try {
    await mkdir(way)
    return true
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'EEXIST') return false
    if (code === 'ENOSPC' || code === 'EDQUOT') throw error
    throw violation(path, `the folder cannot be created (${code})`)
  }
}

/** As far as they are empty, the deepest first. */
async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {})
}

async function checkPlace(folder: FileHandle, path: string): Promise<void> {
  const now = await (process.platform === 'linux' ? readlink(`/proc/self/fd/${folder.fd}`) : realpath(path)).catch(
    () => '',
  )
  if (now !== path) throw violation(path, 'the folder was moved or replaced meanwhile')
}

async function syncHandle(folder: FileHandle): Promise<void> {
  if (!windows) await folder.sync()
}
