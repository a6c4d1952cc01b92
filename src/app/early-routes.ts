import { healthRoutes } from '../http/health/routes.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import { metricsRoutes } from '../http/metrics/routes.ts'
import type { Route } from '../http/route.ts'
import type { ServerState } from '../http/server-state.ts'
import type { OperatorChannel } from '../operators/operator.ts'
import type { Store } from '../store/store.ts'
import type { AppOptions } from './app-options.ts'
import type { Prepared } from './prepare-app.ts'

interface EarlyParts {
  state: ServerState
  metrics: Metrics
  store: Promise<Store>
  /** The channels to operators that are open by now. */
  channels: () => readonly OperatorChannel[]
}

/** Health and metrics answer from the beginning; all other routes need the engine. */
export function earlyRoutes(
  { settings, version, log }: AppOptions,
  { parts, answering, clock }: Prepared,
  { state, metrics, store, channels }: EarlyParts,
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
      servers: () => [
        ...parts.flatMap(({ definition, toolbox }) =>
          toolbox.servers().map(({ name, trouble }) => ({ name: `mcp:${definition.name}/${name}`, trouble })),
        ),
        ...channels().flatMap(({ name, trouble, isSetUp }) =>
          trouble === undefined || isSetUp?.() === false ? [] : [{ name: `channel:${name}`, trouble: trouble() }],
        ),
      ],
      activeSessions: async () => (await store).sessions.count(clock.now() - settings.sessions.ttlSeconds * 1000),
      insecure: settings.auth.insecure,
      state,
      clock,
      log,
    }),
    ...metricsRoutes(metrics, settings.loopback ? 'user' : 'operator'),
  ]
}
