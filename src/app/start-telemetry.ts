import { serverSecrets } from '../config/server-secrets.ts'
import { telemetrySignals } from '../domain/settings/telemetry-settings.ts'
import { noTelemetry, type Telemetry } from '../domain/telemetry.ts'
import { createMask } from '../domain/text/mask.ts'
import type { Middleware } from '../engine/middleware/middleware.ts'
import { measureAgents } from '../http/metrics/agent-metrics.ts'
import type { AppOptions } from './app-options.ts'
import type { Base } from './prepare-app.ts'

/** At the end a receiver that does not answer may hold up the stop this long. */
const FLUSH_MS = 3_000

/** Tells nobody unless the settings name a receiver: only then is anything of OpenTelemetry loaded. */
export async function startTelemetry(parts: Base, undo: AsyncDisposableStack): Promise<Telemetry> {
  const { settings, version, metrics, logTap, clock, ids, log } = parts
  if (settings.telemetry === null) {
    logTap?.open(null)
    return measureAgents(noTelemetry, metrics, clock)
  }
  const { openTelemetry } = await import('../telemetry/open-telemetry.ts')
  const open = openTelemetry({
    settings: settings.telemetry,
    version,
    instanceId: ids.uuid(),
    clock,
    log,
    redact: createRedact(parts),
  })
  undo.defer(async () => {
    await open.close(FLUSH_MS)
    logTap?.open(null)
  })
  logTap?.open(open.takeLine)
  metrics.total('quarterdeck_telemetry_sent_total', 'Spans, log lines and batches of metrics that were sent.', () =>
    Object.entries(open.counts()).map(([signal, { sent }]) => ({ labels: { signal }, value: sent })),
  )
  metrics.total('quarterdeck_telemetry_dropped_total', 'Spans, log lines and batches of metrics that were lost.', () =>
    telemetrySignals.flatMap((signal) => {
      const counts = open.counts()[signal]
      if (counts === undefined) return []
      return [
        { labels: { signal, reason: 'queue_full' }, value: counts.full },
        { labels: { signal, reason: 'not_taken' }, value: counts.failed },
      ]
    }),
  )
  open.sendMetrics(() => metrics.families())
  return measureAgents(open.telemetry, metrics, clock)
}

/** What the redaction of the middleware replaces, and every secret that the log would mask. */
function createRedact(options: Pick<AppOptions, 'settings' | 'agents' | 'middleware'>): (text: string) => string {
  const mask = createMask(serverSecrets(options))
  const rules = options.middleware.flatMap(({ redact }: Middleware) => (redact === undefined ? [] : [redact]))
  return (text) => rules.reduce((out, redact) => redact(out), mask(text))
}
