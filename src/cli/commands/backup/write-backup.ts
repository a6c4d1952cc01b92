import { statSync } from 'node:fs'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseIn } from '../../../app/data-dir.ts'
import { checkWholeDatabase, copyDatabase } from '../../../app/open-store.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../../terminal/progress-line.ts'
import { type BackupList, listIn, listText } from './backup-list.ts'
import { copyPrivately, hashOf, makeWhole } from './new-folder.ts'

/** A server that deletes sessions all the time. */
const MOST_COPIES = 5
const DRAW_MS = 200

/** Writes a backup into a new folder, whether a server uses the data directory or not. Returns what it has. */
export async function writeBackup(dataDir: string, target: string, io: Io): Promise<{ files: number; bytes: number }> {
  const progress = createProgressLine(io)
  const list: BackupList = new Map()
  let bytes = 0
  try {
    await makeWhole({ path: target, ending: '.partial', advice: 'Name a new folder.' }, async (folder) => {
      await copyTogether(dataDir, folder, list, progress)
      await copyCheckpoints(dataDir, folder, list, progress)
      await writeFile(listIn(folder), listText(list), { mode: 0o600, flag: 'wx', flush: true })
      for (const path of list.keys()) bytes += statSync(join(folder, path)).size
    })
  } finally {
    progress.clear()
  }
  // The lock of the folder, from when it was being filled.
  await rm(join(target, 'server.lock'), { force: true })
  return { files: list.size - 1, bytes }
}

/**
 * The database first, then the files that it names: a server stores a file before its record. A session that is deleted meanwhile takes
 * its files along, so the database is then copied again. Files never change, so those that are copied stay.
 */
async function copyTogether(dataDir: string, folder: string, list: BackupList, progress: ProgressLine): Promise<void> {
  for (let copies = 1; ; copies += 1) {
    const named = await copyDatabaseTo(dataDir, folder, list, progress)
    // Of the copy before, whose session is gone.
    for (const path of [...list.keys()]) {
      if (!path.startsWith('files/') || named.has(path.slice(-64))) continue
      await rm(join(folder, path))
      list.delete(path)
    }
    const missing: string[] = []
    for (const [i, sha256] of [...named].entries()) {
      progress.show(`Files: ${i + 1} of ${named.size}`)
      const path = `files/${sha256.slice(0, 2)}/${sha256}`
      if (list.has(path)) continue
      const found = await copyPrivately(join(dataDir, path), join(folder, path))
      if (found === null) missing.push(path)
      else if (found === sha256) list.set(path, sha256)
      else throw damagedFile(join(dataDir, path), 'its bytes have changed')
    }
    const [first] = missing
    if (first === undefined) return
    if (copies === MOST_COPIES) throw damagedFile(join(dataDir, first), 'it is missing')
  }
}

const damagedFile = (path: string, why: string): CliError =>
  new CliError(exitCodes.damaged.code, `The file ${path} is damaged: ${why}. There is no backup.`, [
    'Restore the file, or delete the session that it belongs to.',
  ])

async function copyDatabaseTo(
  dataDir: string,
  folder: string,
  list: BackupList,
  progress: ProgressLine,
): Promise<Set<string>> {
  const [from, to] = [databaseIn(dataDir), databaseIn(folder)]
  await rm(to, { force: true })
  await writeFile(to, '', { mode: 0o600, flag: 'wx' })
  const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const drawing = setInterval(() => {
    const percent = Math.min(100, Math.round((size(to) / Math.max(1, size(from))) * 100))
    progress.show(`Database: ${percent} %`)
  }, DRAW_MS)
  try {
    await copyDatabase(from, to)
  } finally {
    clearInterval(drawing)
  }
  progress.show('Checking the copy of the database')
  const named = checkWholeDatabase(to)
  list.set('quarterdeck.db', await hashOf(to))
  return named
}

/** What restores of workspaces need. First what names the bytes, then the bytes. */
async function copyCheckpoints(
  dataDir: string,
  folder: string,
  list: BackupList,
  progress: ProgressLine,
): Promise<void> {
  for (const part of ['checkpoints/manifests', 'checkpoints/blobs']) {
    const names = await readdir(join(dataDir, part), { recursive: true }).catch(() => [])
    for (const [i, name] of names.entries()) {
      if (!/(?:^|[\\/])[0-9a-f]{64}$/.test(name)) continue
      progress.show(`Checkpoints: ${i + 1} of ${names.length}`)
      const path = `${part}/${name.replaceAll('\\', '/')}`
      // Null: it was removed a moment ago, with its session.
      const sha256 = await copyPrivately(join(dataDir, path), join(folder, path))
      if (sha256 !== null) list.set(path, sha256)
    }
  }
}
