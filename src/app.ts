// The life of a server: what is prepared, in which order it starts, and how it ends. Together with `create-services.ts`,
// `create-routes.ts` and `open-store.ts` it is the only place that names concrete parts and wires them.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ServerSettings } from './config/settings/server-settings.ts'
import { createRoutes, errorShapes } from './create-routes.ts'
import { createServices } from './create-services.ts'
import { createSupervisedWork } from './create-supervised-work.ts'
import type { AgentDefinition, ModelSettings } from './domain/agent.ts'
import { type ByteBudget, createByteBudget, READERS_BYTES } from './domain/byte-budget.ts'
import { type Clock, createSystemClock } from './domain/clock.ts'
import { ServerError } from './domain/errors.ts'
import { createIds, type Ids } from './domain/ids.ts'
import type { Logger } from './domain/logger.ts'
import { LOCAL_USER } from './domain/session.ts'
import type { EngineOptions } from './engine/create-engine.ts'
import type { Engine } from './engine/engine.ts'
import type { Middleware } from './engine/middleware/middleware.ts'
import type { FileKeeper } from './files/file-keeper.ts'
import { createAuth } from './http/auth/auth.ts'
import { createFileKeySecret } from './http/auth/config-folder/file-key-secret.ts'
import { createServerAddress, localUrl } from './http/auth/config-folder/server-address.ts'
import { createFileKeys } from './http/auth/file-keys.ts'
import { guardDecisions } from './http/auth/passphrase/guard-decisions.ts'
import { createPassphrase } from './http/auth/passphrase/passphrase.ts'
import { createRequirePassphrase } from './http/auth/passphrase/require-passphrase.ts'
import { type MadeTokens, noOperatorToken, readTokens, type Tokens } from './http/auth/tokens/tokens.ts'
import { createTempFolder } from './http/body/temp-file.ts'
import { healthRoutes } from './http/health/routes.ts'
import { createMetrics, type Metrics, registerEngineMetrics, registerProcessMetrics } from './http/metrics/metrics.ts'
import { metricsRoutes } from './http/metrics/routes.ts'
import type { AgentPrincipal, Door, Route } from './http/route.ts'
import { createGuard, type Guard } from './http/server/guard.ts'
import type { ListenTarget } from './http/server/listen.ts'
import { createHttpServer, type HttpServer } from './http/server/server.ts'
import { readBasePath } from './http/server/target.ts'
import { readTlsPair, type TlsPair } from './http/server/tls-pair.ts'
import { createServerState, type ServerState } from './http/server-state.ts'
import { createJsonCheck } from './json/json-schema.ts'
import { createSessionLog } from './log/session-log.ts'
import { createLocalWake } from './log/wake.ts'
import { createComplete } from './models/complete.ts'
import { createModel } from './models/create-model.ts'
import { createModelHttp } from './models/wire/model-http.ts'
import { databaseIn, lockDataDir, openStore } from './open-store.ts'
import type { Terminal } from './operators/bell/create-bell.ts'
import { findCtlPlace, openCtlSocket } from './operators/ctl/socket.ts'
import { type Connections, createConnections } from './outgoing/connections.ts'
import { makeFolder } from './store/make-folder.ts'
import { databaseDamaged, HOW_TO_RESTORE } from './store/sqlite/disk/damage.ts'
import type { Store } from './store/store.ts'
import type { Approvals } from './supervision/approvals/approvals.ts'
import { configuredOperators } from './supervision/sessions/configured-operators.ts'
import { refuseUnknownOwner } from './supervision/sessions/may-command.ts'
import { createWorkspaces } from './supervision/workspace/allowed-workspace.ts'
import { createToolbox } from './tools/create-toolbox.ts'
import { createStrayErrors, type StrayErrors } from './tools/function/stray-errors.ts'
import { createStartQueue } from './tools/mcp/start-queue.ts'
import { createProcessGroups, type ProcessGroups } from './tools/process/process-groups.ts'
import type { Tool } from './tools/tool.ts'

export interface AppOptions {
  agents: readonly AgentDefinition[]
  settings: ServerSettings
  /** Where the log, the files and the lock live. */
  dataDir: string
  /** Where tokens are kept, as hashes. Left out: nowhere, and `OpenApp.tokens.operatorToken` lives in memory alone. */
  configDir?: string
  /** Make tokens when none are kept yet, because somebody is there to see them once. */
  makeTokens?: boolean
  version: string
  log: Logger
  /** Ends the process when the disk cannot sync: nothing can be promised then. */
  exit: (code: number) => never
  clock?: Clock
  /** Finds the tool call that an uncaught error belongs to. */
  strays?: StrayErrors
  /** Tools given in code, by agent, beside those of the agent files. */
  tools?: Readonly<Record<string, readonly Tool[]>>
  middleware?: readonly Middleware[]
  /** In front of every path, like `/agent`. */
  basePath?: string
  /** Serves what the MCP conformance suite looks for, to callers without a token. Only for tests, and only on loopback. */
  conformanceFixtures?: boolean
  /** The terminal that the server runs in, for the bell. Left out: it runs in none. */
  terminal?: Terminal
  /** Opens the local socket of `quarterdeck ctl`; `env` says where. Needs `configDir`. Left out: there is none. */
  localSocket?: { env: Readonly<Record<string, string | undefined>> }
  /** Counts the starts in one process: function modules are loaded anew for each number. */
  reload?: number
}

/** One is started once, by `open`, `mount` or `listen`. */
export interface App {
  /** Takes the data directory, opens what is stored and takes up what a crash left behind; for programs that need no port. */
  open(): Promise<OpenApp>
  /** The same, and takes requests from the server of another program. */
  mount(): Promise<OpenApp>
  /**
   * The same behind a port. It is open before the store is, and answers 503 until all is ready: whoever waits for a long start sees
   * that there is one.
   */
  listen(): Promise<OpenApp & { host: string; port: number; url: string }>
  /**
   * Orderly end: no new work, running work drained, the rest suspended or marked, the store closed. May be called again.
   * `crashed`: it ends because something failed that nobody caught.
   */
  close(options?: { drainMs?: number; crashed?: boolean }): Promise<void>
}

export interface OpenApp {
  readonly engine: Engine
  readonly approvals: Approvals
  /** Answers a request that another program's server has taken: see `HttpServer`. */
  handle(request: IncomingMessage, response: ServerResponse, next?: () => void): void
  readonly tokens: Tokens
  /** The tokens that this start made. Show them now: they cannot be read again. */
  readonly madeTokens: MadeTokens | null
  /** What is attached to messages. */
  readonly files: FileKeeper
  /** The open doors that have at least one route. */
  readonly doors: readonly Door[]
  /** The whole table, closed doors included. */
  readonly routes: readonly Route[]
  /** How many connections are open. */
  connections(): number
  /** Call it when the server is idle: frees memory that is held for speed alone. */
  rest(): void
}

export const DISK_FAILED = 74

const isAskedOverHttp = ({ provider }: ModelSettings): boolean => provider !== 'demo' && provider !== 'scripted'

/** Finds everything that can be wrong with settings, keys and files. Only the start touches the data directory. */
export async function createApp(options: AppOptions): Promise<App> {
  const { agents, settings, version, log } = options
  const clock = options.clock ?? createSystemClock()
  const ids = createIds(clock.now)
  // What is opened here is closed in reverse order: at the app's end, or now if something is wrong.
  await using undo = new AsyncDisposableStack()

  const connections = createConnections()
  undo.defer(() => connections.close())
  const modelHttp = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
  const strays = options.strays ?? createStrayErrors()
  const processes = createProcessGroups({ clock, process })
  const queue = createStartQueue()
  const known = agents.map((one) => ({ ...one, given: options.tools?.[one.name] ?? [] }))
  const parts = await Promise.all(
    agents.map(async (definition) => {
      const { directory } = definition
      const model = await createModel(definition.model, {
        http: modelHttp,
        clock,
        ids,
        random: Math.random,
        log,
        directory,
      })
      const unenforced = definition.responseFormat === null ? [] : createJsonCheck(definition.responseFormat).warnings
      if (unenforced.length > 0) {
        log.warn('The response_format is not enforced in full.', { agent: definition.name, warnings: unenforced })
      }
      const toolbox = await createToolbox(definition.tools, {
        clock,
        log,
        version,
        processes,
        queue,
        environment: process.env,
        connections,
        proxyVariables: settings.tools.proxy,
        agents: known,
        complete: createComplete(model, definition.limits.answerChars),
        strays,
        extra: options.tools?.[definition.name] ?? [],
        ...(options.reload === undefined ? {} : { reload: options.reload }),
      })
      undo.defer(() => toolbox.close())
      return { definition, model, toolbox }
    }),
  )
  const served = parts.filter(({ definition }) => !definition.internal)
  const answering = served.find(({ definition }) => definition.default) ?? served[0]
  if (answering === undefined) throw new ServerError('config_invalid', 'There is no agent to serve.')
  const tls = settings.tls === null ? null : readTlsPair(settings.tls)
  const origins =
    settings.cors.origins.includes('local') && settings.cors.origins.length === 1 ? 'local' : settings.cors.origins
  const guard = createGuard({
    host: settings.host,
    loopbackOnly: settings.loopback,
    tokenRequired: settings.auth.required,
    allowedHosts: settings.allowedHosts,
    origins,
  })
  const basePath = readBasePath(options.basePath ?? '')
  const prepared = undo.move()

  const ready: Prepared = { parts, answering, connections, processes, tls, guard, strays, clock, ids, basePath }
  let started: Promise<Started> | null = null
  let closed: Promise<void> | null = null
  function start(where: ListenTarget | 'mounted' | null): Promise<Started> {
    if (started !== null) throw new Error('an app is started once')
    // Nobody could end it any more.
    if (closed !== null) throw new Error('an app that was closed is not started')
    started = startApp(options, ready, where)
    return started
  }

  async function end(drainMs: number, crashed: boolean): Promise<void> {
    // A start that failed has cleared up behind itself.
    const running = await started?.catch(() => null)
    await running?.end(drainMs, crashed)
    await prepared.disposeAsync()
  }

  return {
    async open() {
      return (await start(null)).app
    },
    async mount() {
      return (await start('mounted')).app
    },
    async listen() {
      const { app, address } = await start({ hosts: settings.hosts, port: settings.port })
      // Not part of the start, which must be quick, nor of the first answer. What fails here fails again where it matters.
      if (parts.some(({ definition }) => isAskedOverHttp(definition.model))) void connections.warm().catch(() => {})
      if (address === null) throw new Error('a server that listens has an address')
      const { host, port } = address
      const name = host.includes(':') ? `[${host}]` : host
      return { ...app, host, port, url: `${tls === null ? 'http' : 'https'}://${name}:${port}${basePath}` }
    },
    close({ drainMs = settings.shutdown.drainMs, crashed = false } = {}) {
      closed ??= end(drainMs, crashed)
      return closed
    },
  }
}

interface Prepared {
  parts: EngineOptions['agents']
  /** Who answers where no agent is named. */
  answering: EngineOptions['agents'][number]
  connections: Connections
  processes: ProcessGroups
  tls: TlsPair | null
  guard: Guard
  strays: StrayErrors
  clock: Clock
  ids: Ids
  basePath: string
}

interface Started {
  app: OpenApp
  address: { host: string; port: number } | null
  end(drainMs: number, crashed: boolean): Promise<void>
}

/** `docs/operations.md` promises this order: the lock, the port, the store, recovery, ready. */
async function startApp(
  options: AppOptions,
  prepared: Prepared,
  where: ListenTarget | 'mounted' | null,
): Promise<Started> {
  const { settings, dataDir, version, log } = options
  const { parts, connections, processes, tls, strays, clock, ids, basePath } = prepared
  await using undo = new AsyncDisposableStack()

  const lock = lockDataDir(dataDir)
  undo.defer(() => lock.release())
  const { configDir, makeTokens = false } = options
  const kept = configDir === undefined ? null : { configDir, makeFolder }
  const own = { configDir: configDir ?? null, dataDir, runtimeDir: runtimeDirOf(options), home: homedir() }
  const workspaces = createWorkspaces(settings.supervision, own)
  const tokens = openTokens(options, prepared, { kept, workspaces })
  // Commands on this machine find the server by it. A server that was killed has left its own.
  const published = kept === null ? null : createServerAddress({ ...kept, dataDir })
  published?.forget()
  undo.defer(() => published?.forget())
  const state = createServerState(log)
  const metrics = createMetrics()
  undo.defer(registerProcessMetrics(metrics))
  const whenOpen = Promise.withResolvers<Store>()
  const early = earlyRoutes(options, prepared, { state, metrics, store: whenOpen.promise })
  const room = createByteBudget(READERS_BYTES, clock)
  const http = createServer(options, prepared, { routes: early, tokens, state, metrics, room })
  const address = where === null || where === 'mounted' ? null : await http.listen(where)
  undo.defer(() => http.close({ drainMs: 0 }))
  if (address !== null)
    published?.tell(localUrl(tls === null ? 'http' : 'https', address.host, address.port) + basePath, log)
  await openLocalSocket(options, http)

  const disk = watchDisk(options, state)
  const store = openStore({ dataDir, inMemory: settings.store === ':memory:', lock, ...disk.listeners })
  undo.defer(() => store.close())
  whenOpen.resolve(store)
  // The lock of the data directory lets no other process write, so there is nothing to poll for.
  const wake = createLocalWake({ clock, pollMs: null })
  const sessionLog = createSessionLog({ store, clock, room, wake })
  undo.defer(() => sessionLog.close())
  const madeTokens = await tokens.begin((record) => sessionLog.commit({ type: 'add_audit', audit: [record] }), {
    make: makeTokens,
  })
  if (!tokens.current().some(({ role }) => role === 'operator')) log.warn(noOperatorToken(dataDir))
  const secret = createFileKeySecret(kept === null ? null : { ...kept, dataDir }, log)
  const fileKeys = createFileKeys({ secret, clock })
  const wiring = { settings, fileKeys, dataDir, basePath, version, ids }
  const services = await createServices(
    {
      ...wiring,
      agents: parts,
      store,
      sessionLog,
      wake,
      connections,
      middleware: options.middleware ?? [],
      workspaces,
      tidy: () => work.tidy(),
      ...(options.terminal === undefined ? {} : { terminal: options.terminal }),
      ...(options.conformanceFixtures ? { mcpExtension: await loadConformanceFixtures(settings, clock) } : {}),
      clock,
      log,
    },
    undo,
  )
  const { engine, approvals, feed, mcp, elsewhere, janitor, keeper } = services
  const localAddress =
    address === null ? null : localUrl(tls === null ? 'http' : 'https', address.host, address.port) + basePath
  const work = createSupervisedWork(
    {
      ...{ elsewhere, settings, store, sessionLog, processes, tokens, own, workspaces, clock, ids, log },
      mcpUrl: () => (localAddress === null ? null : `${localAddress}/mcp`),
    },
    undo,
  )
  const passphrase = kept === null ? null : createPassphrase({ ...kept, dataDir, clock })
  const routes = guardDecisions(
    createRoutes({ ...wiring, services, work, early, tokens }),
    createRequirePassphrase(passphrase),
  )
  registerEngineMetrics(metrics, () => ({ ...engine.stats(), lateToolErrors: strays.late }))
  await disk.unlessDamaged(() => engine.recover())
  await disk.unlessDamaged(() => elsewhere.recover())
  http.serve(routes)
  state.advance('ready')
  if (where !== null) {
    state.advance('running')
    janitor.start()
    for (const { toolbox } of parts) toolbox.start()
    // In the background: a question may be about a tool whose server takes its time.
    void approvals.review()
    void work
      .recover()
      .catch((error: unknown) => log.error('what an earlier start left could not be taken over', { error }))
  }
  const everything = undo.move()

  return {
    app: {
      engine,
      approvals,
      handle: http.handle,
      tokens,
      madeTokens,
      files: keeper,
      doors: settings.protocols.filter((door) => routes.some((route) => route.door === door)),
      routes,
      connections: () => http.stats().connections,
      rest: () => store.rest(),
    },
    address,
    async end(drainMs, crashed) {
      janitor.stop()
      // New work is refused from here on. Open answers go on until the engine has ended or suspended their runs.
      const closing = http.close({ drainMs: drainMs + 2_500 })
      await mcp.close()
      await engine.drain(drainMs, { crashed })
      feed.close()
      await closing
      await everything.disposeAsync()
    },
  }
}

/** Where things are kept that live only as long as the server. */
const runtimeDirOf = ({ configDir, dataDir, settings }: AppOptions): string =>
  configDir === undefined
    ? join(dataDir, 'run')
    : findCtlPlace({
        env: process.env,
        configDir,
        dataDir,
        ipcName: settings.supervision.ipcName,
        platform: process.platform,
      }).runtimeDir
async function openLocalSocket(
  { localSocket, configDir, dataDir, settings }: AppOptions,
  http: HttpServer,
): Promise<void> {
  if (localSocket === undefined || configDir === undefined) return
  const { ipcName } = settings.supervision
  const place = findCtlPlace({ env: localSocket.env, configDir, dataDir, ipcName, platform: process.platform })
  await openCtlSocket(place, http.listenLocal)
}

type TokenParts = Pick<Parameters<typeof readTokens>[0], 'kept' | 'workspaces'>

function openTokens(
  { settings, dataDir, log, makeTokens = false }: AppOptions,
  { clock, ids }: Prepared,
  parts: TokenParts,
) {
  const set = { user: settings.auth.token, operator: settings.auth.operatorToken }
  const operators = configuredOperators(settings.supervision.operators)
  const checkOwner = (user: string) => refuseUnknownOwner(operators, user)
  const tokens = readTokens({ ...parts, dataDir, set, clock, ids, log, checkOwner })
  if (!settings.loopback && settings.auth.required && !tokens.hasAny(makeTokens)) {
    throw new ServerError('config_invalid', noOperatorToken(dataDir))
  }
  return tokens
}

/** Health and metrics answer from the beginning; all other routes need the engine. */
function earlyRoutes(
  { settings, version, log }: AppOptions,
  { parts, answering, clock }: Prepared,
  { state, metrics, store }: { state: ServerState; metrics: Metrics; store: Promise<Store> },
): Route[] {
  return [
    ...healthRoutes({
      version,
      agentName: answering.definition.name,
      provider: answering.definition.model.provider,
      checks: {
        storage: async () => (await store).check(),
        model: async () => answering.model.check(AbortSignal.timeout(3_000)),
      },
      servers: () =>
        parts.flatMap(({ definition, toolbox }) =>
          toolbox.servers().map(({ name, trouble }) => ({ name: `mcp:${definition.name}/${name}`, trouble })),
        ),
      activeSessions: async () => (await store).sessions.count(clock.now() - settings.sessions.ttlSeconds * 1000),
      insecure: settings.auth.insecure,
      state,
      clock,
      log,
    }),
    ...metricsRoutes(metrics, settings.loopback ? 'user' : 'operator'),
  ]
}

const conformanceAgent = (workspace: string): AgentPrincipal => ({
  owner: LOCAL_USER,
  role: 'agent',
  hasToken: true,
  tokenId: 'conformance',
  workspace,
})

/** Loaded only when a test asks for it. */
async function loadConformanceFixtures({ loopback, auth }: ServerSettings, clock: Clock) {
  if (!loopback || auth.required) {
    throw new ServerError('config_invalid', '--conformance-fixtures works only on loopback, and without --auth token.')
  }
  const { createConformanceFixtures } = await import('./protocols/mcp/conformance/fixtures.ts')
  return createConformanceFixtures(clock, randomBytes(32))
}

interface ServerParts {
  routes: readonly Route[]
  tokens: Tokens
  state: ServerState
  metrics: Metrics
  room: ByteBudget
}

function createServer(
  { settings, dataDir, log, conformanceFixtures = false }: AppOptions,
  { basePath, guard, tls, clock, ids }: Prepared,
  { routes, tokens, state, metrics, room }: ServerParts,
): HttpServer {
  return createHttpServer({
    routes,
    basePath,
    auth: createAuth({
      tokens: () => tokens.current(),
      tokenRequired: settings.auth.required,
      insecure: settings.auth.insecure,
      ...(conformanceFixtures ? { agentWithoutToken: conformanceAgent(dataDir) } : {}),
      clock,
    }),
    guard,
    log,
    clock,
    ids,
    metrics,
    doors: settings.protocols satisfies readonly Door[],
    state,
    tempFolder: createTempFolder(join(dataDir, 'spool')),
    room,
    errorShapes,
    limits: {
      connections: 2 * settings.limits.activeRuns + 1_000,
      bodyBytes: settings.limits.bodyBytes,
      postsPerMinute: settings.limits.postsPerMinute,
      streamsPerUser: settings.limits.streams,
    },
    ...(tls === null ? {} : { tls }),
  })
}

/** What happens when the disk fails to sync, or the database turns out to be damaged. */
function watchDisk({ dataDir, log, exit }: AppOptions, state: ServerState) {
  const damage: unknown[] = []
  return {
    listeners: {
      fatal(error: Error) {
        log.error('the disk failed to sync: nothing more can be promised, the server ends', { error })
        exit(DISK_FAILED)
      },
      damaged(error: unknown) {
        // The start fails with it, and says so.
        if (state.current === 'initializing') return void damage.push(error)
        log.error(
          `the database is damaged: nothing is stored any more; stop the server and restore it: ${HOW_TO_RESTORE}`,
          { path: databaseIn(dataDir), error },
        )
      },
    },
    /** Throws `storage_failed` with how to restore the database if damage was found by then. */
    async unlessDamaged(work: () => Promise<void>): Promise<void> {
      try {
        await work()
      } catch (error) {
        if (damage.length === 0) throw error
      }
      const [error] = damage
      if (error === undefined) return
      throw databaseDamaged(databaseIn(dataDir), error instanceof Error ? error.message : String(error), error)
    },
  }
}
