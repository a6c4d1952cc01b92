// The port, open before the store: whoever waits for a long start sees that there is one.

import { join } from 'node:path'
import type { Telemetry } from '../domain/telemetry.ts'
import { type Auth, createAuth } from '../http/auth/auth.ts'
import { localUrl } from '../http/auth/config-folder/server-address.ts'
import type { Devices } from '../http/auth/console/devices.ts'
import { createOidc, type Oidc } from '../http/auth/identity/oidc.ts'
import { createProxyAuth } from '../http/auth/identity/proxy-auth.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
import { createTempFolder } from '../http/body/temp-file.ts'
import type { ListenTarget } from '../http/server/listen.ts'
import { createHttpServer, type HttpServer } from '../http/server/server.ts'
import { findCtlPlace, openCtlSocket } from '../operators/ctl/socket.ts'
import { ownCounts, type SharedCounts } from '../replicas/shared-counts.ts'
import { isSamePerson } from '../supervision/sessions/may-command.ts'
import { errorShapes } from './create-routes.ts'
import type { OpenFolders } from './open-own-folders.ts'
import { operationsRoutes } from './operations-routes.ts'
import type { Base } from './prepare-app.ts'

type Observed = Base & OpenFolders & { telemetry: Telemetry }
/** What exists once the port is open. */
export type Listening = Observed & Awaited<ReturnType<typeof openServer>>

/** Opens the port, if there is one, and the local socket. Until `http.serve` only health and metrics answer. `undo` closes both. */
export async function openServer(parts: Observed, where: ListenTarget | 'mounted' | null, undo: AsyncDisposableStack) {
  const { settings, tls, basePath, connections, published, clock, log } = parts
  const { issuers } = settings.identity
  const { fetch } = connections.pool({ proxyVariables: settings.tools.proxy })
  // Checks tokens of identity providers. Null: none count.
  const oidc = issuers.length === 0 ? null : createOidc({ issuers, listed: settings.supervision, fetch, clock, log })
  const http = createServer(parts, oidc)
  const address = where === null || where === 'mounted' ? null : await http.listen(where)
  undo.defer(() => http.close({ drainMs: 0 }))
  // The URL that reaches it from this machine. Null, like the address: it has no port.
  const localAddress =
    address === null ? null : localUrl(tls === null ? 'http' : 'https', address.host, address.port) + basePath
  if (localAddress !== null) published?.tell(localAddress, log)
  await openLocalSocket(parts, http)
  return { http, oidc, address, localAddress }
}

interface AuthParts extends Pick<Listening, 'settings' | 'operators' | 'clock' | 'oidc'> {
  tokens: Pick<Tokens, 'current' | 'refresh' | 'isFresh'>
  devices: Pick<Devices, 'current' | 'used' | 'refresh' | 'isFresh'>
  counts: SharedCounts
}

/** Who callers are, by their tokens. Another process on the store may have made or revoked one. */
export function createServerAuth({ settings, tokens, devices, counts, operators, oidc, clock }: AuthParts): Auth {
  return createAuth({
    tokens: () => tokens.current(),
    devices,
    oidc,
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

/** The port opens before the store. Until then nobody is signed in. */
const noDevices: AuthParts['devices'] = {
  current: () => [],
  used() {},
  refresh: async () => {},
  isFresh: () => true,
}

function createServer(parts: Observed, oidc: Oidc | null): HttpServer {
  const { settings, dataDir, basePath, guard, tls, state, metrics, telemetry, readerBudget, clock, ids, log } = parts
  const { proxy } = settings.identity
  return createHttpServer({
    routes: operationsRoutes(parts, null),
    basePath,
    auth: createServerAuth({ ...parts, oidc, devices: noDevices, counts: ownCounts }),
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
    budget: readerBudget,
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
  { localSocket, configDir, dataDir, settings }: Observed,
  http: HttpServer,
): Promise<void> {
  if (localSocket === null || configDir === null) return
  const { ipcName } = settings.supervision
  const place = findCtlPlace({ env: localSocket.env, configDir, dataDir, ipcName, platform: process.platform })
  await openCtlSocket(place, http.listenLocal)
}
