// The folders of one child process: an inbox with the file of its job, and a folder for its results. It sees no other attached
// files. It may not write to the inbox, because a file there may be a hard link to the kept file itself.

import { constants, copyFile, link, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemErrorCode } from '../../domain/system-error-code.ts'

export async function createWorkFolder(parentFolder: string) {
  // The name contains our process id, so that folders of a dead server can be found.
  const root = await realpath(await mkdtemp(join(parentFolder, `work-${process.pid}-`)))
  const inbox = join(root, 'inbox')
  const results = join(root, 'results')
  await mkdir(inbox)
  await mkdir(results)
  return {
    inbox,
    results,
    /** Puts a file into the inbox and returns its path there. */
    async handIn(path: string): Promise<string> {
      const handedIn = join(inbox, basename(path))
      await rm(handedIn, { force: true })
      await linkOrCopy(path, handedIn)
      return handedIn
    },
    // A file that cannot be removed now is removed with the folder.
    takeBack: (handedIn: string): Promise<void> => rm(handedIn, { force: true }).catch(() => {}),
    remove: (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** A hard link costs nothing, however large the file is. Not every file system has them, and none works across disks. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}

/** Longer than any job. Process ids are reused, so a running process with the id of a server may be another program. */
const LEFT_BEHIND_MS = 3_600_000

/** Removes the folders of children whose server was killed. Keeps recently used folders of a process that still runs. */
export async function removeLeftBehind(parentFolder: string, now: number): Promise<void> {
  for (const name of await readdir(parentFolder).catch(() => [])) {
    if (!name.startsWith('work-')) continue
    const root = join(parentFolder, name)
    const usedAt = Math.max(...(await Promise.all([root, join(root, 'inbox')].map(changedAt))))
    if (isRunning(Number(/^work-(\d+)-/.exec(name)?.[1] ?? 0)) && now - usedAt < LEFT_BEHIND_MS) continue
    await rm(root, { recursive: true, force: true })
  }
}

const changedAt = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )

function isRunning(pid: number): boolean {
  if (pid === 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process exists, but belongs to another user.
    return systemErrorCode(error) === 'EPERM'
  }
}
