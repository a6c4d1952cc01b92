import { ClientError } from '../../../client/client-error.ts'
import { ServerError } from '../../../domain/errors.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodeOf } from '../../exit-codes.ts'
import { shellWord } from '../../shell-word.ts'
import type { Io } from '../../terminal/io.ts'
import { type CtlOptions, type CtlServer, openCtlServer, refusalOf } from './ctl-server.ts'

/** What a verb needs. */
export interface CtlContext {
  server: CtlServer
  io: Io
  json: boolean
  /** Prints the server's answer with `--json`, and otherwise the words. */
  say(answer: unknown, words: string): void
  /** Another verb, as one types it here for the same server. */
  typed(verb: string): string
}

/** Runs a verb against the running server. */
export const runCtl = (options: CtlOptions, io: Io, verb: (context: CtlContext) => Promise<void>): Promise<void> =>
  orFail(
    (async () => {
      const json = options.json === true
      await verb({
        server: await openCtlServer(options, io),
        io,
        json,
        typed(verb) {
          const place = options.dataDir === undefined ? '' : ` --data-dir ${shellWord(options.dataDir)}`
          return `${io.program()} ctl ${verb}${place}`
        },
        say: (answer, words) => void io.stdout.write(json ? `${JSON.stringify(answer)}\n` : `${words}\n`),
      })
    })(),
  )

/** Every failure of these commands is one clear line, so that scripts have one thing to look at. */
export async function orFail<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ClientError) throw refusalOf(error)
    if (error instanceof ServerError) throw new CliError(exitCodeOf(error.code), error.message)
    throw error
  }
}
