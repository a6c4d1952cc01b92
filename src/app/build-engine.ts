// The engine with what guards its runs: rules that ask a person, and limits of a day.

import type { ServerSettings } from '../config/settings/server-settings.ts'
import { type PriceSettings, withAgentPrices } from '../domain/agent/prices.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import type { StepUp } from '../domain/supervision/step-up.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import { createEngine, type EngineOptions } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import { createEventLog, type Middleware } from '../engine/middleware/middleware.ts'
import type { AttachedFiles } from '../files/attached-files.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Wake } from '../log/wake.ts'
import type { Store } from '../store/store.ts'
import { createCallRules } from '../supervision/approvals/call-rules.ts'
import type { createApprovals } from '../supervision/approvals/create-approvals.ts'
import { createGate } from '../supervision/approvals/create-gate.ts'
import { createDayLimits, type DayLimits } from '../supervision/oversight/day-limits.ts'
import { createRealPath } from '../supervision/policy/real-path.ts'
import type { Operators } from '../supervision/sessions/may-command.ts'
import { ANSWER_MS, type StoreReplica } from './open-log.ts'

export interface EngineParts {
  /** The agents, with their models and tools. */
  parts: EngineOptions['agents']
  settings: ServerSettings
  store: Store
  sessionLog: SessionLog
  wake: Wake
  files: AttachedFiles
  middleware: readonly Middleware[]
  telemetry: Telemetry
  operators: Operators
  /** What needs a passkey. */
  stepUp: StepUp
  /** This process among those on the store. */
  replica: StoreReplica
  clock: Clock
  ids: Ids
  log: Logger
}

/** What both the engine's gate and the approvals behind it are made of. */
type ApprovalDeps = Parameters<typeof createGate>[0] &
  Omit<Parameters<typeof createApprovals>[0], 'waits' | 'answerAgent'>

interface BuiltEngine {
  engine: Engine
  approving: ApprovalDeps
  prices: PriceSettings
  dayLimits: DayLimits
}

export function buildEngine(built: EngineParts, undo: AsyncDisposableStack): BuiltEngine {
  const { parts: agents, settings, store, sessionLog, wake, files, telemetry, replica, clock, ids, log } = built
  const approving = {
    rules: createCallRules({ grants: store.grants, realPath: createRealPath, clock }),
    agents,
    operators: built.operators,
    stepUp: built.stepUp,
    store,
    log: sessionLog,
    clock,
    ids,
    logger: log,
  }
  const prices = withAgentPrices(
    settings.prices,
    agents.map(({ definition }) => definition.model),
  )
  const dayLimits = createDayLimits({
    limits: settings.limits.perDay,
    prices,
    usage: store.usage,
    shared: replica.shared,
    isKept: replica.isShared,
    clock,
    logger: log,
  })
  const engine = createEngine({
    agents,
    store,
    log: sessionLog,
    wake,
    replicas: replica.engine,
    clock,
    ids,
    logger: log,
    telemetry,
    files,
    gate: createGate(approving),
    admit: dayLimits.admit,
    acceptWithinMs: isPostgres(settings.store) ? settings.store.waitMs + ANSWER_MS : null,
    middleware: [...built.middleware, ...(settings.log.content ? [createEventLog(log)] : [])],
    limits: {
      activeRuns: settings.limits.activeRuns,
      sessions: settings.limits.sessions,
      queuedRuns: settings.limits.queue,
      disconnectGraceMs: settings.limits.disconnectGraceMs,
    },
  })
  undo.defer(() => engine.close())
  return { engine, approving, prices, dayLimits }
}
