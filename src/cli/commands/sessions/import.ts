import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import type { Store } from '../../../store/store.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { linesOf } from '../../terminal/lines.ts'
import { readArchiveHeader, readArchiveLine } from './session-archive.ts'

/** Imports session by session. A damaged line stops it; the sessions before it are kept, and it says how many. */
export async function importSessions(store: Pick<Store, 'commit'>, file: string, io: Io): Promise<number> {
  const input = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file), { encoding: 'utf8' })
  let lineNumber = 0
  let imported = 0
  let refused = 0
  try {
    for await (const line of linesOf(input)) {
      lineNumber += 1
      if (lineNumber === 1) {
        readArchiveHeader(line)
        continue
      }
      if (line === '') continue
      const session = readArchiveLine(line, lineNumber)
      const { results, synced } = await store.commit([{ type: 'import_session', ...session }])
      await synced
      const [result] = results
      if (result?.ok) {
        imported += 1
      } else if (result?.error.code === 'conflict') {
        refused += 1
        io.stderr.write(`Line ${lineNumber}: session ${session.session.id} refused: ${result.error.message}\n`)
      } else {
        throw result?.error ?? new Error('the store gave no result')
      }
    }
    if (lineNumber === 0) readArchiveHeader('')
  } catch (error) {
    if (imported > 0) io.stderr.write(`Imported ${sessions(imported)} before it stopped.\n`)
    throw error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? new CliError(exitCodes.usage.code, `There is no file ${file}.`)
      : error
  }
  const rest = refused === 0 ? '' : ` ${sessions(refused)} already existed and did not change.`
  io.stderr.write(`Imported ${sessions(imported)}.${rest}\n`)
  return refused === 0 ? exitCodes.ok.code : exitCodes.failed.code
}

const sessions = (count: number): string => `${count} ${count === 1 ? 'session' : 'sessions'}`
