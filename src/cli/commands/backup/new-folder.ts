import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { lockDataDir } from '../../../app/open-store.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { type CliError, cannotCreate } from '../../cli-error.ts'
import { isLocked } from '../../data-directory.ts'

/**
 * Makes a folder that appears whole or not at all. It is filled beside its place, under a name with this `ending` and the lock of a data
 * directory, then renamed. What a killed process has left there is removed first. Throws `CliError` with this `advice` if the place is taken.
 */
export async function makeWhole(
  { path, ending, advice }: { path: string; ending: string; advice: string },
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const taken = (): CliError => cannotCreate(`${path} is not empty.`, [advice])
  if ((await namesIn(path)).length > 0) throw taken()
  const folder = `${path}${ending}`
  const lock = lockFor(folder)
  let isHeld = true
  const release = (): void => {
    if (isHeld) lock.release()
    isHeld = false
  }
  // Windows neither moves nor removes a folder with an open file.
  const releaseOnWindows = process.platform === 'win32' ? release : () => {}
  try {
    for (const name of await readdir(folder)) {
      if (!name.startsWith('server.lock')) await rm(join(folder, name), { recursive: true })
    }
    await fill(folder)
    await syncFolders(folder)
    // Under the lock, so that a server which finds the new folder at once has to wait. An empty folder may be in its place.
    await rmdir(path).catch(() => {})
    releaseOnWindows()
    await rename(folder, path)
    // The lock would look for it at its old place.
    await rm(join(path, 'server.lock-journal'), { force: true })
    await syncFolder(dirname(path))
  } catch (error) {
    releaseOnWindows()
    await rm(folder, { recursive: true, force: true })
    const code = systemErrorCode(error)
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw taken()
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error
    throw cannotCreate(`${path} is a disk of its own, so it cannot appear at once.`, ['Name a folder on that disk.'])
  } finally {
    release()
  }
}

/** Empty if there is no such folder. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}

function lockFor(folder: string): ReturnType<typeof lockDataDir> {
  try {
    return lockDataDir(folder)
  } catch (error) {
    if (!isLocked(error)) throw error
    throw cannotCreate(`Another command is writing to ${folder}.`, ['Wait for its end.'])
  }
}

async function syncFolders(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name))
  }
  await syncFolder(path)
}

/** For reading. Null: there is no such file. */
export const openIfThere = (path: string): Promise<FileHandle | null> =>
  open(path, 'r').catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })

const CHUNK_BYTES = 1 << 20

/**
 * Copies a file into one that only this user can read, and makes sure that it is on disk. Returns the hash of what was copied, or null if
 * there is no such file. A file in its place is an error.
 */
export async function copyPrivately(from: string, to: string): Promise<string | null> {
  await using source = await openIfThere(from)
  if (source === null) return null
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await using target = await open(to, 'wx', 0o600)
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (;;) {
    const { bytesRead } = await source.read(chunk, 0, CHUNK_BYTES)
    if (bytesRead === 0) break
    const bytes = chunk.subarray(0, bytesRead)
    hash.update(bytes)
    await target.writeFile(bytes)
  }
  await target.sync()
  return hash.digest('hex')
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Names survive a power cut once their folder is synced. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot sync folders.
  if (process.platform === 'win32') return
  await using folder = await open(path, 'r')
  await folder.sync()
}
