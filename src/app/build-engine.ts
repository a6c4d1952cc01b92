// The engine with what guards its runs: rules that ask a person, and limits of a day.

import { homedir } from 'node:os'
import { type HostAgent, modelsOf } from '../domain/agent/agent.ts'
import { withAgentPrices } from '../domain/agent/prices.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import { createEngine } from '../engine/create-engine.ts'
import type { Memories } from '../engine/memories/memories.ts'
import { createEventLog } from '../engine/middleware/middleware.ts'
import type { HostWork } from '../engine/ports/host-work.ts'
import type { AttachedFiles } from '../files/attached-files.ts'
import { createCallRules } from '../supervision/approvals/call-rules.ts'
import { createGate } from '../supervision/approvals/create-gate.ts'
import { createDayLimits, limitsAnybody } from '../supervision/oversight/day-limits.ts'
import { createRealPath } from '../supervision/policy/real-path.ts'
import { createLaterAssessWork } from '../supervision/risk/later-assess-work.ts'
import type { Known } from './open-access.ts'
import { ANSWER_MS } from './open-log.ts'
import { noTools } from './prepare-app.ts'

export function buildEngine(
  built: Known & { files: AttachedFiles; hostWork: HostWork; started: readonly HostAgent[]; memories: Memories },
  undo: AsyncDisposableStack,
) {
  const { parts: agents, settings, store, sessionLog, wake, files, telemetry, replica, clock, ids, log } = built
  // What both the engine's gate and the approvals behind it are made of.
  const approving = {
    rules: createCallRules({
      grants: store.grants,
      realPath: createRealPath,
      clock,
      // The folder of an agent is among the server's, and its own tools may work there.
      assess: createLaterAssessWork({ serverPaths: [], home: homedir() }),
    }),
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
    agents.flatMap(({ definition }) => modelsOf(definition)),
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
    agents: [...agents, ...built.started.map((definition) => ({ definition, toolbox: noTools }))],
    store,
    log: sessionLog,
    wake,
    replicas: replica.engine,
    shared: replica.shared,
    clock,
    ids,
    logger: log,
    telemetry,
    files,
    hostWork: built.hostWork,
    memories: built.memories,
    gate: createGate(approving),
    admit: limitsAnybody(settings.limits.perDay) ? dayLimits.admit : null,
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
