import type { AppOptions } from '../../../app/app-options.ts'
import type { LoadedConfig } from '../../../app/load-config.ts'
import type { Logger } from '../../../domain/logger.ts'
import { createKeychain } from '../../../operators/credentials/keychain.ts'
import type { Io } from '../../terminal/io.ts'
import { dataDirFlag } from '../ctl/ctl-place.ts'
import { giveMemoryBack } from './give-memory-back.ts'
import type { Stoppable } from './stop.ts'

/** Parsers of requests that Node keeps, 10 KB each. By default it keeps a thousand after a burst. */
const IDLE_PARSERS = 50

/** A server in this process that accepts requests. */
export interface RunningApp extends Stoppable {
  url: string
  /** The operator's token, if this start has created it, to be shown once. */
  madeToken: string | null
  /** The operator's token. Null if only its hash is known, or there is none. */
  operatorToken: string | null
  /** Whether there is an operator's token. */
  hasOperator: boolean
  /** A code that signs a browser in to the console. It works once, for five minutes. */
  newConsoleCode: () => Promise<string>
  /** The open protocols. */
  doors: readonly string[]
}

/** Resolves when the server is ready. A failed start leaves nothing open. */
export type StartApp = (
  config: LoadedConfig,
  log: Logger,
  io: Io,
  more?: Pick<AppOptions, 'reload' | 'mcpExtension' | 'logTap'>,
) => Promise<RunningApp>

export function createAppStarter(version: string): StartApp {
  return async ({ agents, settings, dataDir, configDir, files }, log, io, more = {}) => {
    // Loaded only when a server is wanted: it is most of the program.
    const { createApp } = await import('../../../app/app.ts')
    const exit = (code: number): never => {
      io.exit(code)
      throw new Error(`the process did not end with ${code}`)
    }
    // Tokens must not end up in a file or a pipe.
    const keeping =
      configDir === null ? {} : { configDir, makeTokens: io.stdout.isTTY === true, localSocket: { env: io.env } }
    const terminal = io.stderr.isTTY === true ? { terminal: io.stderr } : {}
    const { clock, strays } = io
    const credentials = { keychain: createKeychain(clock), env: io.env }
    const app = await createApp({
      agents,
      settings,
      configFiles: files,
      dataDir,
      version,
      log,
      exit,
      clock,
      strays,
      credentials,
      ...keeping,
      ...terminal,
      program: { name: io.program(), dataDirFlag: dataDirFlag(dataDir, io) },
      ...more,
    })
    const running = await app.listen().catch(async (error: unknown) => {
      await app.close({ drainMs: 0 })
      throw error
    })
    const { url, engine, tokens, madeToken, doors } = running
    // Only our launcher enables `gc`. An embedding program manages its memory itself.
    const { gc } = globalThis
    let stopLooking = () => {}
    if (gc !== undefined) {
      process.getBuiltinModule('node:http').setMaxIdleHTTPParsers(IDLE_PARSERS)
      stopLooking = giveMemoryBack({
        clock,
        traffic: () => ({ ...engine.stats(), connections: running.connections() }),
        residentBytes: () => process.memoryUsage.rss(),
        collect() {
          running.rest()
          gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
        },
      })
    }
    return {
      url,
      madeToken,
      operatorToken: tokens.operatorToken,
      hasOperator: tokens.current().some(({ role }) => role === 'operator'),
      newConsoleCode: running.newConsoleCode,
      doors,
      activeRuns: () => engine.stats().activeRuns,
      close(options) {
        stopLooking()
        return app.close(options)
      },
    }
  }
}
