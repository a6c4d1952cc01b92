import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { databaseIn } from '../../../app/data-dir.ts'
import { checkWholeDatabase, lockDataDir } from '../../../app/open-store.ts'
import type { Io } from '../../terminal/io.ts'
import { createProgressLine } from '../../terminal/progress-line.ts'
import { damagedBackup, readList } from './backup-list.ts'
import { copyPrivately, makeWhole } from './new-folder.ts'

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
