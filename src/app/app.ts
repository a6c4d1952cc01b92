// The life of a server: what is prepared, in which order it starts, and how it ends. This folder is the only place that names concrete
// parts and wires them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ModelSettings } from '../domain/agent/agent.ts'
import { createByteBudget, READERS_BYTES } from '../domain/byte-budget.ts'
import { sleep } from '../domain/clock.ts'
import { LOCAL_USER } from '../domain/session/session.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import type { Engine } from '../engine/engine.ts'
import { createTestRuns } from '../evaluation/test-runs.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
import { createMetrics, registerProcessMetrics } from '../http/metrics/metrics.ts'
import type { Door, Route } from '../http/route.ts'
import type { ListenTarget } from '../http/server/listen.ts'
import { createServerState } from '../http/server-state.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { Approvals } from '../supervision/approvals/approvals.ts'
import type { AppOptions } from './app-options.ts'
import { createServed } from './create-served.ts'
import { createServices, type Working } from './create-services.ts'
import { openAccess } from './open-access.ts'
import { openLog } from './open-log.ts'
import { openOutbox } from './open-outbox.ts'
import { openOwnFolders } from './open-own-folders.ts'
import { type OpenSchedules, openSchedules } from './open-schedules.ts'
import { openServer } from './open-server.ts'
import { lockDataDir, lockReplicaFolder } from './open-store.ts'
import { type Base, type Prepared, prepareApp } from './prepare-app.ts'
import { serveChannels } from './serve-channels.ts'
import { startTelemetry } from './start-telemetry.ts'
import { openTestEngine } from './test-engine.ts'

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
  /** The operator's token that this start made, or null. Show it now: it cannot be read again. */
  readonly madeToken: string | null
  /** A code that signs a browser in to the console, as the operator of the first start. It works once, for five minutes. */
  newConsoleCode(): Promise<string>
  /** What is attached to messages. */
  readonly files: FileKeeper
  /** The documents of the agents. Null: no agent has any. */
  readonly knowledge: Knowledge | null
  /** The open doors. */
  readonly doors: readonly Door[]
  /** The whole table, closed doors included. Loads all that is loaded only when it is asked for. */
  routes(): Promise<readonly Route[]>
  /** How many connections are open. */
  connections(): number
  /** Call it when the server is idle: frees memory that is held for speed alone. */
  rest(): void
}

const LOAD_AFTER_MS = 500
/** See `RouteGroup`: what programs do not have for themselves. */
const isConsoles = (segments: readonly string[]): boolean => segments.length === 0 || segments.includes('agents/')
/** As long as this a stop waits until channels have heard of it. */
const TELL_MS = 2_000

const isAskedOverHttp = ({ provider }: ModelSettings): boolean => provider !== 'demo' && provider !== 'scripted'

/** Finds everything that can be wrong with settings, keys and files. Only the start touches the data directory. */
export async function createApp(options: AppOptions): Promise<App> {
  const { settings } = options
  const prepared = await prepareApp(options)
  const { parts, connections, tls, basePath } = prepared
  let started: Promise<Started> | null = null
  let closed: Promise<void> | null = null
  function start(where: ListenTarget | 'mounted' | null): Promise<Started> {
    if (started !== null) throw new Error('an app is started once')
    // Nobody could end it any more.
    if (closed !== null) throw new Error('an app that was closed is not started')
    started = startApp(prepared, where)
    return started
  }

  async function end(drainMs: number, crashed: boolean): Promise<void> {
    // A start that failed has cleared up behind itself.
    const running = await started?.catch(() => null)
    await running?.end(drainMs, crashed)
    await prepared.close()
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
      if (parts.some(({ definition: { model } }) => model !== null && isAskedOverHttp(model)))
        void connections.warm().catch(() => {})
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

interface Started {
  app: OpenApp
  address: { host: string; port: number } | null
  end(drainMs: number, crashed: boolean): Promise<void>
}

/** `docs/do/run-it-unattended.md` promises this order: the lock, the port, the store, recovery, ready. Each step takes what the steps above gave. */
async function startApp(prepared: Prepared, where: ListenTarget | 'mounted' | null): Promise<Started> {
  const { settings, documents, knowledge, log, clock, ids } = prepared
  await using undo = new AsyncDisposableStack()

  const { lock, dataDir } = lockFolder(prepared)
  undo.defer(() => lock.release())
  const base: Base = {
    ...prepared,
    lock,
    dataDir,
    owner: ids.uuid(),
    startedAt: clock.mono(),
    state: createServerState(log),
    metrics: createMetrics(),
    readerBudget: createByteBudget(READERS_BYTES, clock),
  }
  undo.defer(registerProcessMetrics(base.metrics))
  const folders = { ...base, ...(await openOwnFolders(base, undo)) }
  const observed = { ...folders, telemetry: await startTelemetry(base, undo) }
  const listening = { ...observed, ...(await openServer(observed, where, undo)) }
  const stored = { ...listening, ...(await openLog(listening, undo)) }
  const known = { ...stored, ...(await openAccess(stored)) }
  const telling = { ...known, ...(await openOutbox(known, undo)) }
  const working = { ...telling, services: await createServices(telling, undo) }
  if (documents !== null) (await import('./knowledge/knowledge-of.ts')).openKnowledge(documents, working, undo)
  serveChannels(working, undo)
  // Few servers ever run tests.
  const history = async () =>
    (await import('../evaluation/test-history.ts')).createTestHistory({
      notes: working.notes,
      clock,
      logger: log,
    })
  const tests = createTestRuns({ open: () => openTestEngine(prepared), history, clock })
  const schedules = openSchedules(working)
  const served = createServed({ ...working, tests, schedules }, undo)
  const { http, state, replica, store, signIn, tokens, madeToken, address, unlessDamaged } = working
  const { engine, approvals, feed, mcp, elsewhere, janitor, keeper } = working.services
  await unlessDamaged(() => engine.recover())
  await unlessDamaged(() => elsewhere.recover())
  http.serve(served)
  state.advance('ready')
  documents?.knowledge.begin()
  const recovering = where === null ? Promise.resolve() : goToWork({ ...working, schedules })
  const everything = undo.move()

  return {
    app: {
      engine,
      approvals,
      handle: http.handle,
      tokens,
      madeToken,
      async newConsoleCode() {
        // Whoever has it opens the console next. Once the link is printed, what the console asks for is loaded.
        void sleep(clock, LOAD_AFTER_MS)
          .then(() => Promise.all(served.groups.map(({ segments, load }) => isConsoles(segments) && load())))
          .catch(() => {})
        return (await signIn.codes.make({ user: LOCAL_USER, isVouched: false })).text
      },
      files: keeper,
      knowledge,
      doors: settings.protocols,
      routes: served.all,
      connections: () => http.stats().connections,
      rest: () => store.rest(),
    },
    address,
    async end(drainMs, crashed) {
      janitor.stop()
      await schedules.stop()
      tests.close()
      // New work is refused from here on. Open answers go on until the engine has ended or suspended their runs.
      const closing = http.close({ drainMs: drainMs + 2_500 })
      // The store may be what has crashed, or away. Runs that work do not wait for it.
      const told = crashed ? Promise.resolve() : elsewhere.tellStop()
      const noted = told.catch((error: unknown) => log.warn('channels were not told', { error }))
      await Promise.race([noted, sleep(clock, TELL_MS)])
      await mcp.close()
      await engine.drain(drainMs, { crashed })
      feed.close()
      await closing
      // A program that is used for a moment may stop before this has ended, and it reads the store.
      await Promise.race([recovering, sleep(clock, TELL_MS)])
      replica.leave()
      await everything.disposeAsync()
    },
  }
}

/** The folder of this process alone. Several that share a store take one each. */
const lockFolder = ({ settings, dataDir }: Prepared) =>
  isPostgres(settings.store) ? lockReplicaFolder(dataDir) : { lock: lockDataDir(dataDir), dataDir }

/** What a server does besides answering. Resolves when what an earlier start left behind is taken over. */
function goToWork({
  state,
  processes,
  parts,
  log,
  services,
  schedules,
}: Working & { schedules: OpenSchedules }): Promise<void> {
  state.advance('running')
  services.janitor.start()
  schedules.begin()
  // MCP servers may need what those of an earlier start still hold, such as a port.
  void processes.endLeftBehind().then((count) => {
    if (count > 0) log.warn('processes that an earlier start left behind were ended', { count })
    for (const { toolbox } of parts) toolbox.start()
  })
  // In the background: a question may be about a tool whose server takes its time.
  void services.approvals.review()
  return services.work
    .recover()
    .catch((error: unknown) => log.error('what an earlier start left could not be taken over', { error }))
}
