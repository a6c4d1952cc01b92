import { constants } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { isWithin } from '../../domain/is-within.ts'

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/** What is at the path is not what was there a moment ago. */
export class Changing extends Error {
  constructor() {
    super('It changes while it is read.')
    this.name = 'Changing'
  }
}

/**
 * Opens a regular file inside `root`, which is a real path, and nothing else, whatever has taken the place of the file or of a folder
 * above it since somebody looked. Throws `Changing`, or a system error.
 */
export async function openRegular(path: string, root: string): Promise<FileHandle> {
  // Opening a device can do something, so look first.
  if (!(await lstat(path)).isFile()) throw new Changing()
  const handle = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0))
  try {
    const opened = await handle.stat()
    const real = await realpath(path)
    const named = await lstat(real)
    const isSame = named.ino === opened.ino && named.dev === opened.dev
    if (!opened.isFile() || !isSame || !isWithin(real, root)) throw new Changing()
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
