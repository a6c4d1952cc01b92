import type { Logger } from '../domain/logger.ts'
import type { Io } from './io.ts'
import type { LoadedConfig } from './load-config.ts'
import type { Stoppable } from './stop.ts'

/** A server in this process. */
export interface RunningApp extends Stoppable {
  /** Resolves when it takes requests. */
  listen(): Promise<{ url: string }>
  /** The users' token, when this start has made it; null when it was there already. */
  newToken: string | null
  /** The protocols that can be spoken to it. */
  doors: readonly string[]
}

/** Makes the app; it does not listen yet. */
export type StartApp = (config: LoadedConfig, log: Logger, io: Io) => Promise<RunningApp>

export function createAppStarter(version: string): StartApp {
  return async ({ agents, settings, dataDir }, log, io) => {
    // The rest of the program is worth loading only when a server is wanted.
    const { createApp } = await import('../app.ts')
    const exit = (code: number): never => {
      io.exit(code)
      throw new Error(`the process did not end with ${code}`)
    }
    const app = await createApp({ agents, settings, dataDir, version, log, exit, clock: io.clock })
    const user = app.tokens.tokens().find(({ role }) => role === 'user')
    return {
      newToken: app.tokens.created && settings.auth.token === null ? (user?.token ?? null) : null,
      doors: app.doors,
      listen: () => app.listen(),
      activeRuns: () => app.engine.stats().activeRuns,
      close: (options) => app.close(options),
    }
  }
}
