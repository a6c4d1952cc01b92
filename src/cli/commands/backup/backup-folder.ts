import { existsSync, statSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { databaseIn } from '../../../app/data-dir.ts'
import { checkWholeDatabase, copyDatabase, lockDataDir } from '../../../app/open-store.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { CliError, usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { createProgressLine, type ProgressLine } from '../../terminal/progress-line.ts'
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

/** Puts a backup in the place of a data directory, after everything in it was checked. Returns how many files it has. */
export async function restoreBackup(backup: string, dataDir: string, io: Io): Promise<number> {
  const list = await readList(backup)
  // Throws `data_dir_locked` if a server runs, which says more than that the folder is not empty.
  if (existsSync(join(dataDir, 'server.lock'))) lockDataDir(dataDir).release()
  const progress = createProgressLine(io)
  const advice = `Move it away first: mv ${dataDir} ${dataDir}.old`
  try {
    await makeWhole({ path: dataDir, ending: '.restoring', advice }, async (folder) => {
      for (const [i, [path, sha256]] of [...list].entries()) {
        progress.show(`Restoring: ${i + 1} of ${list.size}`)
        const found = await copyPrivately(join(backup, path), join(folder, path))
        if (found === null) throw damagedBackup(backup, `${path} is missing`)
        if (found !== sha256) throw damagedBackup(backup, `${path} has changed`)
      }
      progress.show('Checking the database')
      for (const sha256 of checkWholeDatabase(databaseIn(folder))) {
        const path = `files/${sha256.slice(0, 2)}/${sha256}`
        if (!list.has(path)) throw damagedBackup(backup, `${path} is missing`)
      }
    })
  } finally {
    progress.clear()
  }
  return list.size - 1
}

// `SHA256SUMS` of a backup: what belongs to it. `sha256sum -c SHA256SUMS` checks it without us.

const LIST = 'SHA256SUMS'

/** Path in the backup, with `/`, and the hash of the file. */
type BackupList = Map<string, string>

const listText = (list: BackupList): string => [...list].map(([path, sha256]) => `${sha256}  ${path}\n`).join('')

const listIn = (folder: string): string => join(folder, LIST)

/** Nothing else belongs into a data directory, whatever a list says. */
const LINE =
  /^([0-9a-f]{64}) {2}(quarterdeck\.db|(?:files|checkpoints\/blobs)\/[0-9a-f]{2}\/[0-9a-f]{64}|checkpoints\/manifests\/[0-9a-f]{64})$/

/** Throws `CliError` if the folder is not a whole backup. */
async function readList(folder: string): Promise<BackupList> {
  let text: string
  try {
    text = await readFile(listIn(folder), 'utf8')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error
    throw usageError(`${folder} is not a backup of Quarterdeck: it has no ${LIST}.`, [
      'Name the folder that quarterdeck backup has written.',
    ])
  }
  const list: BackupList = new Map()
  const lines = text.split('\n')
  // A text that was cut off does not end with a line break.
  if (lines.pop() !== '') throw damagedBackup(folder, `${LIST} is cut off`)
  for (const line of lines) {
    const [, sha256 = '', path = ''] = LINE.exec(line) ?? []
    if (path === '') throw damagedBackup(folder, `${LIST} has a line that was not written by quarterdeck backup`)
    list.set(path, sha256)
  }
  if (!list.has('quarterdeck.db')) throw damagedBackup(folder, `${LIST} does not name the database`)
  return list
}

const damagedBackup = (folder: string, why: string): CliError =>
  new CliError(exitCodes.damaged.code, `The backup ${folder} is damaged: ${why}.`, [
    'Nothing was written. Take another backup.',
  ])
