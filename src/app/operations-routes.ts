import { answersWith } from '../domain/agent/agent.ts'
import { ServerError } from '../domain/errors.ts'
import { isModelAgent } from '../engine/create-engine.ts'
import { healthRoutes } from '../http/health/routes.ts'
import { metricsRoutes } from '../http/metrics/metrics.ts'
import type { Route } from '../http/route.ts'
import type { OperatorChannel } from '../operators/operator.ts'
import type { Store } from '../store/store.ts'
import type { Base } from './prepare-app.ts'

/** Health and metrics answer from the beginning; all other routes need the engine. `working` is null until the store is open. */
export function operationsRoutes(
  { settings, version, log, parts, answering, state, metrics, startedAt, clock }: Base,
  working: { store: Pick<Store, 'check' | 'sessions'>; channels: readonly OperatorChannel[] } | null,
): Route[] {
  const { store = null, channels = [] } = working ?? {}
  return [
    ...healthRoutes({
      version,
      agentName: answering.definition.name,
      provider: answersWith(answering.definition).provider,
      checks: {
        storage: store === null ? notReady : () => store.check(),
        // Whether a program of the agent starts is only known when it does: `doctor` tries it.
        model: async () => (isModelAgent(answering) ? answering.model.check(AbortSignal.timeout(3_000)) : undefined),
      },
      servers: () => [
        ...parts.flatMap(({ definition, toolbox }) =>
          toolbox.servers().map(({ name, trouble }) => ({ name: `mcp:${definition.name}/${name}`, trouble })),
        ),
        ...channels.flatMap(({ name, trouble, isSetUp }) =>
          trouble === undefined || isSetUp?.() === false ? [] : [{ name: `channel:${name}`, trouble: trouble() }],
        ),
      ],
      activeSessions: async () => (await store?.sessions.count(clock.now() - settings.sessions.ttlSeconds * 1000)) ?? 0,
      unconfined: parts.flatMap(({ definition: { name, host } }) => (host?.unconfined === true ? [name] : [])),
      insecure: settings.auth.insecure,
      state,
      startedAt,
      clock,
      log,
    }),
    ...metricsRoutes(metrics, settings.loopback ? 'user' : 'operator'),
  ]
}

const notReady = () => Promise.reject(new ServerError('not_ready', 'the server is starting'))
