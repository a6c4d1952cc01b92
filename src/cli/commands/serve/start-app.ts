import type { AppOptions } from '../../../app/app-options.ts'
import type { LoadedConfig } from '../../../app/load-config.ts'
import type { Clock } from '../../../domain/clock.ts'
import type { Logger } from '../../../domain/logger.ts'
import { createKeychain } from '../../../operators/credentials/keychain.ts'
import type { Io } from '../../terminal/io.ts'
import { dataDirFlag } from '../ctl/ctl-place.ts'
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
  hasOperator: boolean
  /** A code that signs a browser in to the console. It works once, for five minutes. */
  newConsoleCode: () => Promise<string>
  /** The open protocols. */
  doors: readonly string[]
  /** Names of hosted agents that no sandbox confines. */
  unconfined: readonly string[]
}

/** Resolves when the server is ready. A failed start leaves nothing open. */
export type StartApp = (
  config: LoadedConfig,
  log: Logger,
  io: Io,
  more?: Partial<Pick<AppOptions, 'reload' | 'mcpExtension' | 'logTap' | 'terminal'>>,
) => Promise<RunningApp>

/** Nothing may go on after it. */
export function endProcess(code: number, io: Io): never {
  io.exit(code)
  throw new Error(`the process did not end with ${code}`)
}

export function createAppStarter(version: string): StartApp {
  return async ({ agents, settings, dataDir, configDir, files }, log, io, more = {}) => {
    // Loaded only when a server is wanted: it is most of the program.
    const { createApp } = await import('../../../app/app.ts')
    const { appDefaults } = await import('../../../app/app-options.ts')
    // Tokens must not end up in a file or a pipe.
    const keeping =
      configDir === null ? {} : { configDir, makeTokens: io.stdout.isTTY === true, localSocket: { env: io.env } }
    const terminal = io.stderr.isTTY === true ? { terminal: io.stderr } : {}
    const { clock, strays } = io
    const credentials = { keychain: createKeychain(clock), env: io.env }
    const app = await createApp({
      ...appDefaults(clock),
      agents,
      settings,
      configFiles: files,
      dataDir,
      version,
      log,
      exit: (code) => endProcess(code, io),
      strays,
      credentials,
      ...keeping,
      ...terminal,
      program: { name: io.program(), dataDirFlag: () => dataDirFlag(dataDir, io) },
      ...more,
    })
    const running = await app.listen().catch(async (error: unknown) => {
      await app.close({ drainMs: 0 })
      throw error
    })
    const { url, engine, tokens, madeToken, doors } = running
    let stopLooking = () => {}
    // Without our launcher, whoever started the process manages its memory.
    if (io.tune !== null) {
      io.tune()
      process.getBuiltinModule('node:http').setMaxIdleHTTPParsers(IDLE_PARSERS)
      stopLooking = giveMemoryBack({
        clock,
        traffic: () => ({ ...engine.stats(), connections: running.connections() }),
        residentBytes: () => process.memoryUsage.rss(),
        collect() {
          running.rest()
          globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
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
      unconfined: engine.agents.list.flatMap(({ name, host }) => (host?.unconfined === true ? [name] : [])),
      activeRuns: () => engine.stats().activeRuns,
      close(options) {
        stopLooking()
        return app.close(options)
      },
    }
  }
}

interface MemoryDeps {
  clock: Clock
  /** Active runs, runs so far, and open connections. */
  traffic: () => { activeRuns: number; runsStarted: number; connections: number }
  residentBytes: () => number
  /** Collects all garbage and returns memory to the system. Blocks. */
  collect: () => void
}

const LOOK_MS = 1_000
/** What a start compiled and parsed is not needed later, so the first collection comes soon. */
const QUIET_AFTER_START = 2
/** A collection also drops what V8 has learned about objects. A short pause in the traffic is not worth that. */
const QUIET_AFTER_RUNS = 8
/** Neither is a little memory: collect only if this much more is in use than after the last time. */
const WORTH = 4 / 3

/**
 * After a burst, V8 keeps its memory until there is more work. So this collects everything once, when no run was active and nobody
 * came or left for some seconds, and clearly more memory is in use than after the last time. That blocks for about 0.1 s, while nobody waits
 * for an answer. The returned function stops it.
 */
export function giveMemoryBack({ clock, traffic, residentBytes, collect }: MemoryDeps): () => void {
  let left: number | null = null
  let quiet = 0
  let seen = 0
  let connected = 0
  let cancel = () => {}

  function look(): void {
    const { activeRuns, runsStarted, connections } = traffic()
    // A stalled reader outlives its run, and its memory is garbage only after it has left.
    const isQuiet = activeRuns === 0 && runsStarted === seen && connections === connected
    seen = runsStarted
    connected = connections
    quiet = isQuiet ? quiet + 1 : 0
    const isDue =
      left === null ? quiet >= QUIET_AFTER_START : quiet === QUIET_AFTER_RUNS && residentBytes() > left * WORTH
    if (isDue) {
      collect()
      left = residentBytes()
    }
    cancel = clock.after(LOOK_MS, look)
  }

  cancel = clock.after(LOOK_MS, look)
  return () => cancel()
}
