// The life of a server: what is prepared, in which order it starts, and how it ends. This folder is the only place that names concrete
// parts and wires them.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ModelSettings } from '../domain/agent/agent.ts'
import { createByteBudget, READERS_BYTES } from '../domain/byte-budget.ts'
import { sleep } from '../domain/clock.ts'
import { LOCAL_USER } from '../domain/session/session.ts'
import { plainProgram } from '../domain/settings/program-words.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import type { Engine } from '../engine/engine.ts'
import { createTestRuns } from '../evaluation/test-runs.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import { createProofs } from '../http/auth/console/proofs.ts'
import { guardDecisions } from '../http/auth/passphrase/guard-decisions.ts'
import { createRequirePassphrase } from '../http/auth/passphrase/require-passphrase.ts'
import { noOperatorToken, type Tokens, type WriteAudit } from '../http/auth/tokens/tokens.ts'
import {
  createMetrics,
  registerBuildInfo,
  registerEngineMetrics,
  registerProcessMetrics,
} from '../http/metrics/metrics.ts'
import { registerStoreMetrics } from '../http/metrics/store-metrics.ts'
import type { Door, Route } from '../http/route.ts'
import type { ListenTarget } from '../http/server/listen.ts'
import { createServerState } from '../http/server-state.ts'
import { createConsoleLink, onLocalhost } from '../operators/console-link.ts'
import type { OperatorChannel } from '../operators/operator.ts'
import { noteRefusedRequests } from '../protocols/shared/request/refused-requests.ts'
import type { Store } from '../store/store.ts'
import type { Approvals } from '../supervision/approvals/approvals.ts'
import { createLateReach } from '../supervision/reach.ts'
import { configuredOperators } from '../supervision/sessions/configured-operators.ts'
import { personOf } from '../supervision/sessions/may-command.ts'
import type { AppOptions } from './app-options.ts'
import { createChannels } from './create-channels.ts'
import { createRoutes } from './create-routes.ts'
import { ANSWER_MS, createServices } from './create-services.ts'
import { createSupervisedWork } from './create-supervised-work.ts'
import { earlyRoutes } from './early-routes.ts'
import { openAccess } from './open-access.ts'
import { openLog } from './open-log.ts'
import { openOwnFolders } from './open-own-folders.ts'
import { createServerAuth, openServer } from './open-server.ts'
import { lockDataDir, lockReplicaFolder } from './open-store.ts'
import { type Prepared, prepareApp } from './prepare-app.ts'
import { createReadStats } from './read-stats.ts'
import { refuseUnconfirmed } from './refuse-unconfirmed.ts'
import { serverPaths } from './server-paths.ts'
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
  /** The open doors that have at least one route. */
  readonly doors: readonly Door[]
  /** The whole table, closed doors included. */
  readonly routes: readonly Route[]
  /** How many connections are open. */
  connections(): number
  /** Call it when the server is idle: frees memory that is held for speed alone. */
  rest(): void
}

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
    started = startApp(options, prepared, where)
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
      // Whoever could open our port too would have pages at the console's address: an agent of the same user, on this machine.
      const isExclusive = settings.console && settings.loopback
      const { app, address } = await start({ hosts: settings.hosts, port: settings.port, isExclusive })
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

interface Started {
  app: OpenApp
  address: { host: string; port: number } | null
  end(drainMs: number, crashed: boolean): Promise<void>
}

/** `docs/operations.md` promises this order: the lock, the port, the store, recovery, ready. */
async function startApp(
  given: AppOptions,
  prepared: Prepared,
  where: ListenTarget | 'mounted' | null,
): Promise<Started> {
  const { settings, version, log, makeTokens = false } = given
  const { parts, credentials, connections, processes, strays, clock, ids, basePath } = prepared
  await using undo = new AsyncDisposableStack()

  const { lock, dataDir } = isPostgres(settings.store)
    ? lockReplicaFolder(given.dataDir)
    : { lock: lockDataDir(given.dataDir), dataDir: given.dataDir }
  const options = { ...given, dataDir }
  undo.defer(() => lock.release())
  const folders = await openOwnFolders(options, prepared, undo)
  const { own, workspaces, tokens, published, passphrase } = folders
  const state = createServerState(log)
  const metrics = createMetrics()
  undo.defer(registerProcessMetrics(metrics))
  const telemetry = await startTelemetry(options, prepared, metrics, undo)
  const whenOpen = Promise.withResolvers<Store>()
  let channels: readonly OperatorChannel[] = []
  const early = earlyRoutes(options, prepared, { state, metrics, store: whenOpen.promise, channels: () => channels })
  const room = createByteBudget(READERS_BYTES, clock)
  const serverParts = { routes: early, tokens, state, metrics, telemetry, room, published }
  const { http, address, localAddress } = await openServer(options, prepared, serverParts, where, undo)
  const port = address?.port ?? null

  const owner = ids.uuid()
  const logParts = { lock, owner, own: folders.shared, state, room, metrics, clock, ids }
  const { store, replica, wake, sessionLog, unlessDamaged } = await openLog(options, logParts, undo)
  whenOpen.resolve(store)
  if (isPostgres(settings.store)) {
    const withinMs = settings.store.waitMs + ANSWER_MS
    undo.defer(refuseUnconfirmed({ http, commitMs: replica.commitMs, withinMs, clock }))
  }
  const { fileKeys, pushKeys, secret, signIn } = await openAccess({ ...replica, clock, ids, log })
  const audit: WriteAudit = (record) => sessionLog.commit({ type: 'add_audit', audit: [record] })
  const madeToken = await tokens.begin(audit, { make: makeTokens, place: replica })
  const { issuers, proxy } = settings.identity
  const knowsNobodyElse = issuers.length === 0 && proxy === null
  if (knowsNobodyElse && !tokens.current().some(({ role }) => role === 'operator')) {
    log.warn(noOperatorToken(isPostgres(settings.store) ? null : dataDir))
  }
  const wiring = { settings, fileKeys, dataDir, basePath, version, ids }
  const base = settings.channels.publicUrl ?? (localAddress === null ? '' : onLocalhost(localAddress))
  const link = createConsoleLink(base)
  const operators = configuredOperators(settings.supervision.operators, [], settings.supervision.operatorGroups)
  const proofs = createProofs({
    ...{ passkeys: signIn.passkeys, challenges: signIn.challenges, clock, ids, log },
    personOf: (name) => personOf(operators, name),
    link: (id) => (id === null ? `${base}/console/settings` : link(id)),
  })
  const reach = createLateReach()
  const { agents, configFiles = [] } = options
  const ownPaths = serverPaths({ agents, settings, own, configFiles })
  const services = await createServices(
    {
      ...wiring,
      replica,
      agents: parts,
      store,
      sessionLog,
      wake,
      connections,
      middleware: options.middleware ?? [],
      telemetry,
      workspaces,
      serverPaths: ownPaths,
      tidy: () => work.tidy(),
      reach,
      stepUp: proofs,
      ...(options.mcpExtension === undefined ? {} : { mcpExtension: options.mcpExtension }),
      clock,
      log,
    },
    undo,
  )
  const { engine, approvals, feed, mcp, elsewhere, janitor, keeper } = services
  const work = createSupervisedWork(
    {
      ...{ elsewhere, settings, store, sessionLog, processes, tokens, own, workspaces, replica, clock, ids, log },
      serverPaths: ownPaths,
      tell: reach.tell,
      mcpUrl: () => (localAddress === null ? null : `${localAddress}/mcp`),
    },
    undo,
  )
  const { terminal, program = plainProgram } = options
  const channelParts = {
    ...{ settings, services, work, store, sessionLog, credentials, connections, pushKeys, secret, clock, ids, log },
    ...{ link, telemetry, replica, program },
  }
  const opened = await createChannels({ ...channelParts, ...(terminal === undefined ? {} : { terminal }) }, undo)
  channels = opened.list
  reach.open(opened.reach)
  const tests = createTestRuns({ open: () => openTestEngine({ ...options, clock, strays }), clock })
  const routes = guardDecisions(
    createRoutes({
      ...{ ...wiring, services, work, channels: opened, early, tokens, stepUp: proofs, workspaces, tests, program },
      signIn: {
        ...signIn,
        counts: replica.counts,
        proofs,
        audit,
        operators,
        base,
        agent: prepared.answering.definition.name,
      },
      readStats: createReadStats({ engine, store, http: http.stats, clock, replica, version, state, port }, undo),
    }),
    createRequirePassphrase(passphrase),
  )
  registerEngineMetrics(metrics, () => ({ ...engine.stats(), lateToolErrors: strays.late }))
  registerStoreMetrics(metrics, () => store.figures(), clock)
  registerBuildInfo(metrics, {
    ...{ version, store: isPostgres(settings.store) ? 'postgres' : settings.store },
    replica: engine.stats().replica,
  })
  await unlessDamaged(() => engine.recover())
  await unlessDamaged(() => elsewhere.recover())
  http.serve({
    routes,
    auth: createServerAuth(options, prepared, { tokens, devices: signIn.devices, counts: replica.counts }),
    counts: replica.counts,
    onRefused: noteRefusedRequests(services.noteRefused),
  })
  state.advance('ready')
  let recovering = Promise.resolve()
  if (where !== null) {
    state.advance('running')
    janitor.start()
    // MCP servers may need what those of an earlier start still hold, such as a port.
    void processes.endLeftBehind().then((count) => {
      if (count > 0) log.warn('processes that an earlier start left behind were ended', { count })
      for (const { toolbox } of parts) toolbox.start()
    })
    // In the background: a question may be about a tool whose server takes its time.
    void approvals.review()
    recovering = work
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
      madeToken,
      newConsoleCode: async () => (await signIn.codes.make({ user: LOCAL_USER, isVouched: false })).text,
      files: keeper,
      doors: settings.protocols.filter((door) => routes.some((route) => route.door === door)),
      routes,
      connections: () => http.stats().connections,
      rest: () => store.rest(),
    },
    address,
    async end(drainMs, crashed) {
      janitor.stop()
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
