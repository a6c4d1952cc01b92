// `SHA256SUMS` of a backup: what belongs to it. `sha256sum -c SHA256SUMS` checks it without us.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError, usageError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'

const LIST = 'SHA256SUMS'

/** Path in the backup, with `/`, and the hash of the file. */
export type BackupList = Map<string, string>

export const listText = (list: BackupList): string => [...list].map(([path, sha256]) => `${sha256}  ${path}\n`).join('')

export const listIn = (folder: string): string => join(folder, LIST)

/** Nothing else belongs into a data directory, whatever a list says. */
const LINE =
  /^([0-9a-f]{64}) {2}(quarterdeck\.db|(?:files|checkpoints\/blobs)\/[0-9a-f]{2}\/[0-9a-f]{64}|checkpoints\/manifests\/[0-9a-f]{64})$/

/** Throws `CliError` if the folder is not a whole backup. */
export async function readList(folder: string): Promise<BackupList> {
  let text: string
  try {
    text = await readFile(listIn(folder), 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
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

export const damagedBackup = (folder: string, why: string): CliError =>
  new CliError(exitCodes.damaged.code, `The backup ${folder} is damaged: ${why}.`, [
    'Nothing was written. Take another backup.',
  ])
