import { resolve } from 'node:path'
import type { Writable } from 'node:stream'
import type { ReadOnlyStore } from '../../../store/store-reads.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { endLine } from '../sessions/archive-lines.ts'
import { auditLines, write, writeNewFile } from '../sessions/export.ts'
import { archiveHeader } from '../sessions/session-archive.ts'

/** Writes the trail in the format of `sessions export`, without the sessions. */
export async function exportAudit(
  stored: Pick<ReadOnlyStore, 'read'>,
  { output }: { output?: string },
  io: Io,
): Promise<number> {
  async function fill(into: Writable): Promise<void> {
    await write(into, `${archiveHeader(io.clock.now())}\n`)
    for await (const line of auditLines(stored)) await write(into, `${line}\n`)
    await write(into, `${endLine(0)}\n`)
  }
  if (output === undefined) await fill(io.stdout)
  else await writeNewFile(resolve(io.cwd, output), output, io, fill)
  return exitCodes.ok.code
}
