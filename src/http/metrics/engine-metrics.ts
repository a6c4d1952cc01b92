import type { Metrics } from './metrics.ts'

/** What the engine counts; read when Prometheus asks. */
export interface EngineNumbers {
  activeRuns: number
  queuedRuns: number
  readers: number
  runsStarted: number
  runsFinished: Readonly<Record<string, number>>
  tokens: { input: number; output: number }
  /** By tool. */
  lateToolErrors: Readonly<Record<string, number>>
}

export function registerEngineMetrics(metrics: Metrics, read: () => EngineNumbers): void {
  metrics.gauge('quarterdeck_active_runs', 'Runs that are executing.', () => read().activeRuns)
  metrics.gauge('quarterdeck_queued_runs', 'Runs that wait for their session.', () => read().queuedRuns)
  metrics.gauge('quarterdeck_readers', 'Readers of sessions and runs.', () => read().readers)
  metrics.total('quarterdeck_runs_started_total', 'Runs taken.', () => read().runsStarted)
  metrics.total('quarterdeck_runs_finished_total', 'Runs that ended, by outcome.', () =>
    Object.entries(read().runsFinished).map(([outcome, value]) => ({ labels: { outcome }, value })),
  )
  metrics.total('quarterdeck_tokens_total', 'Tokens reported by models.', () =>
    Object.entries(read().tokens).map(([direction, value]) => ({ labels: { direction }, value })),
  )
  metrics.total(
    'quarterdeck_late_tool_errors_total',
    'Errors of function tools that came when their call had ended.',
    () => Object.entries(read().lateToolErrors).map(([tool, value]) => ({ labels: { tool }, value })),
  )
}
