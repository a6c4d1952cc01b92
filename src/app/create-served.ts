// What the server answers with once the store is open: all routes, and who may use them.

import { isPostgres } from '../domain/settings/store-settings.ts'
import { guardDecisions } from '../http/auth/passphrase/guard-decisions.ts'
import { createRequirePassphrase } from '../http/auth/passphrase/require-passphrase.ts'
import { registerBuildInfo, registerEngineMetrics } from '../http/metrics/metrics.ts'
import { registerStoreMetrics } from '../http/metrics/store-metrics.ts'
import type { Route } from '../http/route.ts'
import type { Served } from '../http/server/server.ts'
import { noteRefusedRequests } from '../protocols/shared/request/refused-requests.ts'
import { createRoutes, type Later, type RouteTable } from './create-routes.ts'
import type { Working } from './create-services.ts'
import { createServerAuth } from './open-server.ts'
import { createReadStats } from './read-stats.ts'

/** `all` loads the whole table, closed doors included. */
export function createServed(parts: Working & Later, undo: AsyncDisposableStack): Served & Pick<RouteTable, 'all'> {
  const { services, signIn, replica } = parts
  const readStats = createReadStats(
    { ...parts, engine: services.engine, http: parts.http.stats, port: parts.address?.port ?? null },
    undo,
  )
  const { routes, groups, all } = createRoutes(parts, readStats)
  const requirePassphrase = createRequirePassphrase(parts.passphrase)
  const guard = (found: readonly Route[]) => guardDecisions(found, requirePassphrase)
  registerMetrics(parts)
  return {
    routes: guard(routes),
    groups: groups.map(({ segments, load }) => ({ segments, load: async () => guard(await load()) })),
    all,
    auth: createServerAuth({ ...parts, devices: signIn.devices, counts: replica.counts }),
    counts: replica.counts,
    onRefused: noteRefusedRequests(services.noteRefused),
  }
}

function registerMetrics({ metrics, settings, services, strays, store, version, clock }: Working): void {
  const { engine } = services
  registerEngineMetrics(metrics, () => ({ ...engine.stats(), lateToolErrors: strays.late }))
  registerStoreMetrics(metrics, () => store.figures(), clock)
  registerBuildInfo(metrics, {
    version,
    store: isPostgres(settings.store) ? 'postgres' : settings.store,
    replica: engine.stats().replica,
  })
}
