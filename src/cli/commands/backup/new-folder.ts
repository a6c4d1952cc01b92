import { readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ServerError } from '../../../domain/errors.ts'
import { lockDataDir } from '../../../open-store.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { syncFolder } from './private-copy.ts'

interface NewFolder {
  path: string
  /** Of the name that the folder has while it is filled. */
  ending: string
  /** What to do if something is in its place. */
  advice: string
}

/**
 * Makes a folder that appears whole or not at all. It is filled beside its place, under the lock of a data directory, then renamed. What
 * a killed process has left there is removed first. Throws `CliError` if the place is taken.
 */
export async function makeWhole(
  { path, ending, advice }: NewFolder,
  fill: (folder: string) => Promise<void>,
): Promise<void> {
  const taken = (): CliError => new CliError(exitCodes.cannotCreate.code, `${path} is not empty.`, [advice])
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
    const code = error instanceof Error && 'code' in error ? error.code : ''
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw taken()
    if (code !== 'EBUSY' && code !== 'EXDEV') throw error
    throw new CliError(exitCodes.cannotCreate.code, `${path} is a disk of its own, so it cannot appear at once.`, [
      'Name a folder on that disk.',
    ])
  } finally {
    release()
  }
}

/** Empty if there is no such folder. */
async function namesIn(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

function lockFor(folder: string): ReturnType<typeof lockDataDir> {
  try {
    return lockDataDir(folder)
  } catch (error) {
    if (!(error instanceof ServerError) || error.code !== 'data_dir_locked') throw error
    throw new CliError(exitCodes.cannotCreate.code, `Another command is writing to ${folder}.`, ['Wait for its end.'])
  }
}

async function syncFolders(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(join(path, entry.name))
  }
  await syncFolder(path)
}
