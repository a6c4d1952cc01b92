// The part of the disk that one child process sees of what people attach: its inbox, with the file of its job, and the folder for
// its results. The inbox is not for writing: a file there may be the kept one itself, under a second name.

import { constants, copyFile, link, mkdir, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'

export interface WorkFolder {
  readonly inbox: string
  readonly results: string
  /** Puts a file into the inbox; gives where it stands there. */
  handIn(path: string): Promise<string>
  takeBack(handedIn: string): Promise<void>
  remove(): Promise<void>
}

export async function createWorkFolder(parentFolder: string): Promise<WorkFolder> {
  // Says whose it is, so that what a dead server has left is known.
  const root = await realpath(await mkdtemp(join(parentFolder, `work-${process.pid}-`)))
  const inbox = join(root, 'inbox')
  const results = join(root, 'results')
  await mkdir(inbox)
  await mkdir(results)
  return {
    inbox,
    results,
    async handIn(path) {
      const handedIn = join(inbox, basename(path))
      await rm(handedIn, { force: true })
      await linkOrCopy(path, handedIn)
      return handedIn
    },
    // What cannot be removed now goes with the folder.
    takeBack: (handedIn) => rm(handedIn, { force: true }).catch(() => {}),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** A second name costs nothing, however large the file is. Not every disk has them, and none reaches from one disk to another. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch {
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}

/** Longer than any job. Numbers of processes are used again, so one that seems to be there may be another. */
const LEFT_BEHIND_MS = 3_600_000

/** Removes the folders of children whose server was killed. One that still runs keeps those that it has used lately. */
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
    // It is somebody else's.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
