// What the server answers with once the store is open: all routes, and who may use them.

import { isPostgres } from '../domain/settings/store-settings.ts'
import type { TestRuns } from '../evaluation/test-runs.ts'
import { guardDecisions } from '../http/auth/passphrase/guard-decisions.ts'
import type { Passphrase } from '../http/auth/passphrase/passphrase.ts'
import { createRequirePassphrase } from '../http/auth/passphrase/require-passphrase.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
import { registerBuildInfo, registerEngineMetrics } from '../http/metrics/metrics.ts'
import { registerStoreMetrics } from '../http/metrics/store-metrics.ts'
import type { Served } from '../http/server/server.ts'
import { noteRefusedRequests } from '../protocols/shared/request/refused-requests.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Store } from '../store/store.ts'
import type { Workspaces } from '../supervision/workspace/allowed-workspace.ts'
import { createRoutes } from './create-routes.ts'
import type { Services } from './create-services.ts'
import type { OpenAccess } from './open-access.ts'
import type { OpenOutbox } from './open-outbox.ts'
import { createServerAuth, type OpenServer } from './open-server.ts'
import { type OperationsParts, operationsRoutes } from './operations-routes.ts'
import type { Prepared } from './prepare-app.ts'
import { createReadStats } from './read-stats.ts'

interface ServedParts
  extends OperationsParts,
    OpenAccess,
    OpenServer,
    Pick<Prepared, 'ids' | 'basePath' | 'operators' | 'program' | 'strays'>,
    Pick<OpenOutbox, 'channels' | 'channelService' | 'push'> {
  services: Services
  store: Store
  replica: Replica
  tokens: Tokens
  passphrase: Passphrase | null
  workspaces: Workspaces
  tests: TestRuns
  dataDir: string
}

export function createServed(parts: ServedParts, undo: AsyncDisposableStack): Served {
  const { services, signIn, replica, stepUp, audit, operators, consoleUrl, answering } = parts
  const routes = createRoutes({
    ...parts,
    channels: parts,
    operations: operationsRoutes(parts, parts),
    signIn: {
      ...signIn,
      counts: replica.counts,
      proofs: stepUp,
      audit,
      operators,
      base: consoleUrl,
      agent: answering.definition.name,
    },
    readStats: createReadStats(
      {
        engine: services.engine,
        store: parts.store,
        http: parts.http.stats,
        clock: parts.clock,
        replica,
        version: parts.version,
        state: parts.state,
        port: parts.address?.port ?? null,
      },
      undo,
    ),
  })
  registerMetrics(parts)
  return {
    routes: guardDecisions(routes, createRequirePassphrase(parts.passphrase)),
    auth: createServerAuth({ ...parts, devices: signIn.devices, counts: replica.counts }),
    counts: replica.counts,
    onRefused: noteRefusedRequests(services.noteRefused),
  }
}

function registerMetrics({ metrics, settings, services, strays, store, version, clock }: ServedParts): void {
  const { engine } = services
  registerEngineMetrics(metrics, () => ({ ...engine.stats(), lateToolErrors: strays.late }))
  registerStoreMetrics(metrics, () => store.figures(), clock)
  registerBuildInfo(metrics, {
    version,
    store: isPostgres(settings.store) ? 'postgres' : settings.store,
    replica: engine.stats().replica,
  })
}
