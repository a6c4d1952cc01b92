import { mkdir, open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'

interface TestReport {
  /** Called once. */
  write(text: string): Promise<void>
}

/** Creates a file for results now, with its missing folders. `-` is standard output. Null if no file was asked for. */
export async function openTestReport(file: string | undefined, io: Io): Promise<TestReport | null> {
  if (file === undefined) return null
  if (file === '-') return { write: async (text) => void io.stdout.write(text) }
  const path = resolve(io.cwd, file)
  try {
    await mkdir(dirname(path), { recursive: true })
    // Emptied now: if this run never ends, an earlier report must not look like its result.
    const handle = await open(path, 'w')
    await handle.close()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CliError(exitCodes.cannotCreate.code, `${file} cannot be written: ${reason}.`, ['Choose another file.'])
  }
  return {
    async write(text) {
      const handle = await open(path, 'w')
      try {
        await handle.writeFile(text)
      } finally {
        await handle.close()
      }
    },
  }
}
