import type { Logger } from '../domain/logger.ts'
import { giveMemoryBack } from './give-memory-back.ts'
import type { Io } from './io.ts'
import type { LoadedConfig } from './load-config.ts'
import type { Stoppable } from './stop.ts'

/** Of requests, 10 KB each. Node would keep a thousand after a burst. */
const IDLE_PARSERS = 50

/** A server in this process that takes requests. */
export interface RunningApp extends Stoppable {
  url: string
  /** The users' token, when this start has made it; null when it was there already. */
  newToken: string | null
  /** What decides; null when the file has none. */
  operatorToken(): string | null
  /** Where the tokens that no setting gives are kept. */
  tokenFile: string
  /** The protocols that can be spoken to it. */
  doors: readonly string[]
}

/** Resolves when the server is ready; one that cannot start leaves nothing open. `reload`: see `AppOptions`. */
export type StartApp = (config: LoadedConfig, log: Logger, io: Io, reload?: number) => Promise<RunningApp>

export function createAppStarter(version: string): StartApp {
  return async ({ agents, settings, dataDir }, log, io, reload) => {
    // The rest of the program is worth loading only when a server is wanted.
    const { createApp } = await import('../app.ts')
    const exit = (code: number): never => {
      io.exit(code)
      throw new Error(`the process did not end with ${code}`)
    }
    const again = reload === undefined ? {} : { reload }
    const app = await createApp({ agents, settings, dataDir, version, log, exit, clock: io.clock, ...again })
    const running = await app.listen().catch(async (error: unknown) => {
      await app.close({ drainMs: 0 })
      throw error
    })
    const { url, engine, tokens, doors } = running
    // There when the launcher has started us; embedded in another program, memory is that program's matter.
    const { gc } = globalThis
    let stopLooking = () => {}
    if (gc !== undefined) {
      process.getBuiltinModule('node:http').setMaxIdleHTTPParsers(IDLE_PARSERS)
      stopLooking = giveMemoryBack({
        clock: io.clock,
        runs: () => engine.stats(),
        residentBytes: () => process.memoryUsage.rss(),
        collect() {
          running.rest()
          gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
        },
      })
    }
    const user = tokens.tokens().find(({ role }) => role === 'user')
    return {
      url,
      newToken: tokens.created && settings.auth.token === null ? (user?.token ?? null) : null,
      operatorToken: () => tokens.tokens().find(({ role }) => role === 'operator')?.token ?? null,
      tokenFile: tokens.path,
      doors,
      activeRuns: () => engine.stats().activeRuns,
      close(options) {
        stopLooking()
        return app.close(options)
      },
    }
  }
}
