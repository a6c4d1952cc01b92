import { CommanderError } from 'commander'
import { readVersion } from '../config/version.ts'
import { createAppStarter } from './commands/serve/start-app.ts'
import { exitCodes } from './exit-codes.ts'
import { commandAt, createProgram } from './program.ts'
import { reportError } from './report-error.ts'
import type { Io } from './terminal/io.ts'
import { createProcessIo, type Launcher } from './terminal/process-io.ts'

/** Runs one command and returns the exit code. Never rejects: failures are reported on stderr. */
export async function main(args: readonly string[], io: Io): Promise<number> {
  let stopListening = () => {}
  const crashed = new Promise<number>((resolve) => {
    stopListening = io.onCrash((error) => resolve(reportError(error, io)))
  })
  try {
    return await Promise.race([run(args, io), crashed])
  } catch (error) {
    return reportError(error, io)
  } finally {
    stopListening()
  }
}

async function run(args: readonly string[], io: Io): Promise<number> {
  let exitCode: number = exitCodes.ok.code
  const version = await readVersion()
  const settle = (code: number) => {
    exitCode = code
  }
  const [first, ...words] = args
  const wantsHelp = first === 'help'
  const program = await createProgram(
    { version, startApp: createAppStarter(version), io, settle },
    wantsHelp ? words[0] : first,
  )
  try {
    // Commander itself looks at one word only.
    if (wantsHelp) commandAt(program, words).help()
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Asking for help or the version is not a mistake.
    return error.exitCode === 0 ? exitCodes.ok.code : exitCodes.usage.code
  }
  return exitCode
}

/** The program as a process; the launcher in `bin` calls it. */
export async function runProcess(process: NodeJS.Process, launcher: Launcher): Promise<never> {
  try {
    process.cwd()
  } catch {
    process.stderr.write('quarterdeck: The folder that you are in is gone. Change to another one.\n')
    process.exit(exitCodes.cannotCreate.code)
  }
  // The server's timers do not keep the process alive, so a command that waits for one needs something that does.
  const alive = setInterval(() => {}, 2 ** 30)
  const exitCode = await main(process.argv.slice(2), createProcessIo(process, launcher))
  clearInterval(alive)
  // `exit` would throw away text that a pipe still holds.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))),
  )
  process.exit(exitCode)
}
