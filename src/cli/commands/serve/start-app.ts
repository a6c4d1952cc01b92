import type { Logger } from '../../../domain/logger.ts'
import type { MadeTokens } from '../../../http/auth/tokens/tokens.ts'
import type { LoadedConfig } from '../../load-config.ts'
import type { Io } from '../../terminal/io.ts'
import { giveMemoryBack } from './give-memory-back.ts'
import type { Stoppable } from './stop.ts'

/** Of requests, 10 KB each. Node would keep a thousand after a burst. */
const IDLE_PARSERS = 50

/** A server in this process that takes requests. */
export interface RunningApp extends Stoppable {
  url: string
  /** What this start has made, to be shown once; null: nothing. */
  madeTokens: MadeTokens | null
  /** What decides; null when only its hash is known here, or there is none. */
  operatorToken: string | null
  /** Whether anybody can decide. */
  hasOperator: boolean
  /** The protocols that can be spoken to it. */
  doors: readonly string[]
}

/** Resolves when the server is ready; one that cannot start leaves nothing open. `reload`: see `AppOptions`. */
export type StartApp = (config: LoadedConfig, log: Logger, io: Io, reload?: number) => Promise<RunningApp>

export function createAppStarter(version: string): StartApp {
  return async ({ agents, settings, dataDir, configDir }, log, io, reload) => {
    // The rest of the program is worth loading only when a server is wanted.
    const { createApp } = await import('../../../app.ts')
    const exit = (code: number): never => {
      io.exit(code)
      throw new Error(`the process did not end with ${code}`)
    }
    const again = reload === undefined ? {} : { reload }
    // Whoever reads a file or a pipe later must find no token in it.
    const keeping = configDir === null ? {} : { configDir, makeTokens: io.stdout.isTTY === true }
    const { clock, strays } = io
    const app = await createApp({ agents, settings, dataDir, version, log, exit, clock, strays, ...keeping, ...again })
    const running = await app.listen().catch(async (error: unknown) => {
      await app.close({ drainMs: 0 })
      throw error
    })
    const { url, engine, tokens, madeTokens, doors } = running
    // There when the launcher has started us; embedded in another program, memory is that program's matter.
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
      madeTokens,
      operatorToken: tokens.operatorToken,
      hasOperator: tokens.current().some(({ role }) => role === 'operator'),
      doors,
      activeRuns: () => engine.stats().activeRuns,
      close(options) {
        stopLooking()
        return app.close(options)
      },
    }
  }
}
