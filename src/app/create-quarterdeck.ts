// Quarterdeck as a part of another program: the same server as `quarterdeck serve`, from the same files, with defaults for all.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CodeSettings } from '../config/settings/settings.ts'
import { readVersion } from '../config/version.ts'
import type { AgentDefinition } from '../domain/agent/agent.ts'
import { createSystemClock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Logger } from '../domain/logger.ts'
import { plainProgram } from '../domain/settings/program-words.ts'
import type { Middleware } from '../engine/middleware/middleware.ts'
import { createLogTap } from '../http/logging/log-tap.ts'
import { problemHeaders, problemOf } from '../http/problem.ts'
import { isOutside, readBasePath } from '../http/server/target.ts'
import { createKeychain } from '../operators/credentials/keychain.ts'
import { type CodeTool, createCodeTool } from '../tools/function/code-tool.ts'
import { createStrayErrors, type StrayErrors } from '../tools/function/stray-errors.ts'
import type { Tool } from '../tools/tool.ts'
import { type App, createApp, type OpenApp } from './app.ts'
import { appDefaults } from './app-options.ts'
import { loadConfig } from './load-config.ts'
import { createServerLog } from './server-log.ts'

export interface QuarterdeckOptions {
  /**
   * The agent's file, a folder of them, or several. Default: what `quarterdeck serve` would take: agent.yaml in the working directory,
   * or else the agent that the environment describes.
   */
  agent?: string | readonly string[]
  /** In front of every path, like `/agent`. Default: none. */
  basePath?: string
  /** Tools in addition to those of the agent's file. */
  tools?: readonly CodeTool[]
  /** Sees every event of a run before it is stored, and may change or drop it; the first one first. */
  middleware?: readonly Middleware[]
  /** By the keys of docs/look-up/settings.md. They count more than the environment and quarterdeck.yaml. */
  settings?: CodeSettings
  /** Where keys and settings are looked for, beside the `.env` files. Default: the program's environment. */
  env?: Readonly<Record<string, string | undefined>>
  /** Default: lines on stderr, as the settings say. */
  log?: Logger
}

/** An `IncomingMessage` of `node:http`. Described by what it has, so that a program without Node's types can be checked too. */
export interface NodeRequest {
  readonly url?: string | undefined
  readonly headers: object
}

/** A `ServerResponse` of `node:http`. */
export interface NodeResponse {
  readonly headersSent: boolean
  end(): unknown
}

export interface Quarterdeck {
  /**
   * Answers a request of your own server: mount it under `basePath`, before anything that reads bodies. The first request starts
   * everything, unless `ready` has. A request outside of `basePath` is left to `next`, where there is one.
   */
  readonly handler: (request: NodeRequest, response: NodeResponse, next?: (error?: unknown) => void) => void
  /**
   * Takes the data directory, opens what is stored and goes on with what a crash left behind. Throws what is wrong. Call it
   * before your server takes requests, so that a mistake ends the program and not the first request.
   */
  ready(): Promise<void>
  /** The same on a port of its own, in the place of `ready`: that of the settings, 8000 by default. */
  listen(): Promise<{ url: string; host: string; port: number }>
  /** No new work, running work drained, the store closed. Call it before you close your server. May be called again. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** Reads the files and throws a `ConfigError` for all that is wrong in them. Nothing is started yet. */
export function createQuarterdeck(options: QuarterdeckOptions = {}): Quarterdeck {
  const { agent = [], settings = {}, middleware = [], env = process.env } = options
  const io = {
    cwd: process.cwd(),
    env,
    stderr: process.stderr,
    clock: createSystemClock(),
    program: () => plainProgram.name,
  }
  const config = loadConfig({ files: [agent].flat(), flags: {}, code: settings }, io)
  const logTap = createLogTap()
  const log = options.log ?? createServerLog(config, io, { tap: logTap })
  const strays = createStrayErrors()
  const tools = toolsByAgent(options.tools ?? [], config.agents, strays)
  const basePath = readBasePath(options.basePath ?? '')

  let app: Promise<App> | null = null
  let started: Promise<OpenApp> | null = null
  /** Set when it is started: from then on a request waits for nobody. */
  let running: OpenApp | null = null
  let closed: Promise<void> | null = null
  let isTold = false

  async function makeApp(): Promise<App> {
    for (const warning of config.warnings) log.warn(warning)
    const { agents, dataDir, configDir, files } = config
    return createApp({
      ...appDefaults(io.clock),
      agents,
      settings: config.settings,
      configFiles: files,
      dataDir,
      configDir,
      version: await readVersion(),
      log,
      logTap,
      // Whatever else the program does: nothing that was promised would hold.
      exit: (code) => process.exit(code),
      strays,
      credentials: { keychain: createKeychain(io.clock), env },
      tools,
      middleware,
      basePath,
    })
  }

  async function open<Opened extends OpenApp>(how: (app: App) => Promise<Opened>): Promise<Opened> {
    app = makeApp()
    const made = await app
    const opened = await how(made).catch(async (error: unknown) => {
      await made.close({ drainMs: 0 })
      throw error
    })
    running = opened
    return opened
  }

  function start<Opened extends OpenApp>(how: (app: App) => Promise<Opened>): Promise<Opened> {
    const opening = open(how)
    started = opening
    return opening
  }

  async function mounted(): Promise<OpenApp> {
    if (closed !== null) throw wasClosed()
    return started ?? start((made) => made.mount())
  }

  async function closeApp(drainMs: number | undefined): Promise<void> {
    // The server's timers do not keep the process alive, and runs may wait for one.
    const alive = setInterval(() => {}, 2 ** 30)
    try {
      // One that was never started holds nothing.
      const made = await app?.catch(() => null)
      await made?.close(drainMs === undefined ? {} : { drainMs })
    } finally {
      clearInterval(alive)
    }
  }

  function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    // Once: every request would say the same.
    if (closed === null && !isTold) log.error('Quarterdeck could not start', { error })
    isTold = true
    const failure =
      closed === null
        ? new ServerError('not_ready', 'Quarterdeck could not start. The log of the program has the reason.')
        : new ServerError('shutting_down', 'Quarterdeck was closed; try again when it is back.')
    const problem = problemOf(failure, { path: request.url ?? null, correlationId: crypto.randomUUID() })
    const headers = { 'Content-Type': 'application/problem+json', ...problemHeaders(problem), Connection: 'close' }
    response.writeHead(problem.status, headers).end(JSON.stringify(problem))
  }

  function answer(request: IncomingMessage, response: ServerResponse, next?: () => void): void {
    if (running !== null) running.handle(request, response, next)
    // It waits for no start, nor fails with one: the program's other pages have nothing to do with us.
    else if (next !== undefined && isOutside(basePath, request)) next()
    else
      mounted().then(
        ({ handle }) => handle(request, response, next),
        (error: unknown) => refuse(request, response, error),
      )
  }

  return {
    handler: (request, response, next) => answer(request as IncomingMessage, response as ServerResponse, next),
    async ready() {
      await mounted()
    },
    async listen() {
      if (closed !== null) throw wasClosed()
      if (started !== null) throw new Error('Quarterdeck is started already: call either ready() or listen(), once.')
      const { url, host, port } = await start((made) => made.listen())
      return { url, host, port }
    },
    close({ drainMs } = {}) {
      closed ??= closeApp(drainMs)
      return closed
    },
  }
}

const wasClosed = (): Error => new Error('Quarterdeck was closed: make a new one.')

function toolsByAgent(
  given: readonly CodeTool[],
  agents: readonly AgentDefinition[],
  strays: StrayErrors,
): Record<string, Tool[]> {
  const names = agents.map(({ name }) => name)
  const made = given.map((tool) => ({ tool: createCodeTool(tool, strays), agents: tool.agents ?? names }))
  for (const { tool, agents } of made) {
    const unknown = agents.find((name) => !names.includes(name))
    if (unknown === undefined) continue
    const message = `Tool ${tool.name}: there is no agent ${unknown}. Write one of ${names.join(', ')}.`
    throw new ServerError('config_invalid', message)
  }
  return Object.fromEntries(
    names.map((name) => [name, made.filter(({ agents }) => agents.includes(name)).map(({ tool }) => tool)]),
  )
}
