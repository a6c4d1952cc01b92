import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { type CliError, failure, usageError } from '../../cli-error.ts'
import type { Io } from '../../terminal/io.ts'
import { linesOf } from '../../terminal/lines.ts'
import { type ArchiveLine, readArchiveHeader, readArchiveLine } from './session-archive.ts'

/** The lines of an archive after the first. Throws at a damaged line, and after the last one if the file was cut off. */
export async function* readArchive(file: string, io: Io): AsyncGenerator<{ line: ArchiveLine; number: number }> {
  const input = file === '-' ? io.stdin : createReadStream(resolve(io.cwd, file), { encoding: 'utf8' })
  let [number, sessions] = [0, 0]
  let isOpen = true
  try {
    for await (const text of linesOf(input)) {
      number += 1
      if (number === 1) {
        readArchiveHeader(text)
        continue
      }
      if (text === '') continue
      const line = readArchiveLine(text, number)
      // Somebody may have joined the lines of several archives.
      if (line.type === 'end') {
        if (line.sessions !== sessions) throw cutOff(`${sessions} of its ${line.sessions} sessions are there`)
        ;[isOpen, sessions] = [false, 0]
      } else {
        isOpen = true
        if (line.type === 'session') sessions += 1
        yield { line, number }
      }
    }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    throw isMissing ? usageError(`There is no file ${file}.`) : error
  }
  if (number === 0) readArchiveHeader('')
  if (isOpen) throw cutOff('its last line is missing')
}

const cutOff = (reason: string): CliError => failure(`The archive was cut off: ${reason}.`, ['Export it again.'])
