import { join } from 'node:path'
import type { ByteBudget } from '../domain/byte-budget.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import { type Auth, createAuth } from '../http/auth/auth.ts'
import { localUrl, type ServerAddress } from '../http/auth/config-folder/server-address.ts'
import type { Devices } from '../http/auth/console/devices.ts'
import { createOidc } from '../http/auth/identity/oidc.ts'
import { createProxyAuth } from '../http/auth/identity/proxy-auth.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
import { createTempFolder } from '../http/body/temp-file.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import type { Route } from '../http/route.ts'
import type { ListenTarget } from '../http/server/listen.ts'
import { createHttpServer, type HttpServer } from '../http/server/server.ts'
import type { ServerState } from '../http/server-state.ts'
import { findCtlPlace, openCtlSocket } from '../operators/ctl/socket.ts'
import { ownCounts, type SharedCounts } from '../replicas/shared-counts.ts'
import { configuredOperators } from '../supervision/sessions/configured-operators.ts'
import { isSamePerson } from '../supervision/sessions/may-command.ts'
import type { AppOptions } from './app-options.ts'
import { errorShapes } from './create-routes.ts'
import type { Prepared } from './prepare-app.ts'

interface ServerParts {
  routes: readonly Route[]
  tokens: Tokens
  state: ServerState
  metrics: Metrics
  telemetry: Telemetry
  room: ByteBudget
  /** Tells commands on this machine where the server is. Null: nobody is told. */
  published: Pick<ServerAddress, 'tell'> | null
}

interface OpenServer {
  http: HttpServer
  /** Null: it has no port. */
  address: { host: string; port: number } | null
  /** The URL that reaches it from this machine. Null: it has no port. */
  localAddress: string | null
}

/** Opens the port, if there is one, and the local socket. `undo` closes both. */
export async function openServer(
  options: AppOptions,
  prepared: Prepared,
  parts: ServerParts,
  where: ListenTarget | 'mounted' | null,
  undo: AsyncDisposableStack,
): Promise<OpenServer> {
  const { tls, basePath } = prepared
  const http = createServer(options, prepared, parts)
  const address = where === null || where === 'mounted' ? null : await http.listen(where)
  undo.defer(() => http.close({ drainMs: 0 }))
  const localAddress =
    address === null ? null : localUrl(tls === null ? 'http' : 'https', address.host, address.port) + basePath
  if (localAddress !== null) parts.published?.tell(localAddress, options.log)
  await openLocalSocket(options, http)
  return { http, address, localAddress }
}

interface AuthParts {
  tokens: Pick<Tokens, 'current' | 'refresh' | 'isFresh'>
  devices: Pick<Devices, 'current' | 'used' | 'refresh' | 'isFresh'>
  counts: SharedCounts
}

const noDevices: AuthParts['devices'] = {
  current: () => [],
  used() {},
  refresh: async () => {},
  isFresh: () => true,
}

export function createServerAuth(
  { settings, log }: AppOptions,
  { clock, connections }: Prepared,
  { tokens, devices, counts }: AuthParts,
): Auth {
  const { issuers } = settings.identity
  const listed = settings.supervision
  const { fetch } = connections.pool(settings.tools.proxy === null ? {} : { proxyVariables: settings.tools.proxy })
  const operators = configuredOperators(listed.operators, [], listed.operatorGroups)
  return createAuth({
    tokens: () => tokens.current(),
    devices,
    oidc: issuers.length === 0 ? null : createOidc({ issuers, listed, fetch, clock, log }),
    isSamePerson: (one, other) => isSamePerson(operators, one, other),
    tokenRequired: settings.auth.required,
    insecure: settings.auth.insecure,
    failuresPerMinute: 10,
    lookAgain: async () => void (await Promise.all([devices.refresh(), tokens.refresh()])),
    isFresh: () => devices.isFresh() && tokens.isFresh(),
    counts,
    clock,
  })
}

function createServer(
  options: AppOptions,
  prepared: Prepared,
  { routes, tokens, state, metrics, telemetry, room }: ServerParts,
): HttpServer {
  const { settings, dataDir, log } = options
  const { basePath, guard, tls, clock, ids } = prepared
  const { proxy } = settings.identity
  return createHttpServer({
    routes,
    basePath,
    // The port opens before the store. Until then nobody is signed in.
    auth: createServerAuth(options, prepared, { tokens, devices: noDevices, counts: ownCounts }),
    proxyAuth: proxy === null ? null : createProxyAuth(proxy, settings.supervision),
    guard,
    log,
    clock,
    ids,
    metrics,
    telemetry,
    doors: settings.protocols,
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
    tls,
  })
}

async function openLocalSocket(
  { localSocket, configDir, dataDir, settings }: AppOptions,
  http: HttpServer,
): Promise<void> {
  if (localSocket === undefined || configDir === undefined) return
  const { ipcName } = settings.supervision
  const place = findCtlPlace({ env: localSocket.env, configDir, dataDir, ipcName, platform: process.platform })
  await openCtlSocket(place, http.listenLocal)
}
