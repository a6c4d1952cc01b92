// Puts the engine together. What a run does is in `run/`; what survives a crash is in the store.

import { type AgentDefinition, modelsOf } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { agentNotFound } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Wake } from '../log/wake.ts'
import type { Shared } from '../store/ports/shared.ts'
import type { Store } from '../store/store.ts'
import { acceptWithin, createAcceptRun } from './accept-run.ts'
import type { Apps } from './apps/create-apps.ts'
import { createCancelRun } from './cancel-run.ts'
import { createRuns } from './create-runs.ts'
import type { Agents, Engine } from './engine.ts'
import type { Files } from './files-port.ts'
import type { Gate } from './gate.ts'
import { type AgentVersions, createAgentVersions } from './loop/agent-version.ts'
import { createPriceList, type PriceList } from './loop/budget.ts'
import { createTokenCorrection } from './loop/context-window.ts'
import { createSummaries, type Summaries } from './loop/summaries/summaries.ts'
import type { Memories } from './memories/memories.ts'
import { chain, type Middleware } from './middleware/middleware.ts'
import type { HostWork } from './ports/host-work.ts'
import type { EngineReplicas } from './ports/replicas.ts'
import type { Admit } from './ports/runs.ts'
import type { AgentParts, HostParts, ModelParts } from './run/run-scope.ts'
import { createRunner } from './run/runner.ts'
import { createStuckRuns, type StuckRuns } from './run/stuck-runs.ts'
import { createSessions } from './sessions/create-sessions.ts'
import { createWaits } from './waits/create-waits.ts'
import { createSyncedWaits } from './waits/synced-waits.ts'

/** An agent as the start prepares it, before anything runs. */
export type PreparedAgent = Omit<ModelParts, 'correction' | 'host'> | Omit<HostParts, 'host'>

/** By `definition.host`, so the compiler knows which parts there are. */
export const isModelAgent = (parts: PreparedAgent): parts is Omit<ModelParts, 'correction' | 'host'> =>
  parts.definition.host === null

export interface EngineOptions {
  agents: readonly PreparedAgent[]
  /** Does the work of agents in a host's program. */
  hostWork: HostWork
  store: Store
  log: SessionLog
  clock: Clock
  ids: Ids
  logger: Logger
  telemetry: Telemetry
  middleware: readonly Middleware[]
  gate: Gate
  /** Null: attached files do not reach the model. */
  files: Files | null
  /** Connects the engines of one store. */
  wake: Wake
  memories: Memories
  /** Keeps what agents send. */
  shared: Pick<Shared, 'get' | 'list' | 'put' | 'take'>
  replicas: EngineReplicas
  /** Says whether a user may begin new work. Null: everybody may. */
  admit: Admit | null
  /** Who sends a message or an answer hears something within this time. Null: when it is stored, or refused. */
  acceptWithinMs: number | null
  limits: {
    activeRuns: number
    sessions: number | null
    queuedRuns: number
    /** Null: a run does not stop when its readers leave. */
    disconnectGraceMs: number | null
  }
}

/** What the parts of one engine share. Each takes what it needs of it. */
export interface EngineParts
  extends Omit<EngineOptions, 'agents' | 'middleware' | 'replicas' | 'shared'>,
    Pick<EngineReplicas, 'isOnlyProcess' | 'isAlone' | 'presence'> {
  /** All agents by name, also those that only other agents call. */
  agents: ReadonlyMap<string, AgentParts>
  /** The whole chain. Null: it is empty. */
  middleware: Middleware | null
  stuck: StuckRuns
  versions: AgentVersions
  prices: PriceList
  summaries: Summaries
  /** The name of this process: the owner of its lease, and of the runs that it executes. */
  leaseOwner: string
  /** See `EngineReplicas.others`. */
  otherProcesses: EngineReplicas['others']
}

export function createEngine(options: EngineOptions): Engine {
  const { store, log, gate } = options
  const agents = new Map<string, AgentParts>(
    options.agents.map((parts) => [
      parts.definition.name,
      isModelAgent(parts)
        ? { ...parts, host: null, correction: createTokenCorrection() }
        : { ...parts, host: options.hostWork },
    ]),
  )
  const served = createServedAgents(agents)
  const { owner: leaseOwner, isOnlyProcess, isAlone, others: otherProcesses, presence } = options.replicas
  const among = { leaseOwner, isOnlyProcess, isAlone, otherProcesses, presence }
  const [middleware, stuck] = [chain(options.middleware), createStuckRuns()]
  const versions = createAgentVersions(options)
  const prices = createPriceList(options.agents.flatMap(({ definition }) => modelsOf(definition)))
  const summaries = createSummaries({ ...options, prices })
  const shared: EngineParts = { ...options, ...among, agents, middleware, stuck, versions, prices, summaries }
  let runsStarted = 0

  const runner = createRunner(shared)
  const cancel = createCancelRun({ ...shared, runner })
  const sessions = createSessions({
    ...shared,
    runner,
    cancel,
    settingsOf: (session) => (agents.get(session.agent)?.definition ?? served.get(null)).sessions,
  })
  const takeRun = createAcceptRun({
    ...shared,
    agents: served,
    runner,
    cancel,
    onAccepted: () => {
      runsStarted += 1
    },
  })
  const { acceptWithinMs } = options
  const accept = acceptWithinMs === null ? takeRun : acceptWithin(takeRun, acceptWithinMs, options.clock)
  const syncedWaits = createSyncedWaits(store.waits, log)
  const waits = createWaits({ ...shared, syncedWaits, accept, startNext: runner.startNext })
  const runs = createRuns({ ...shared, served, gate, runner, syncedWaits, waits, accept, cancel })

  return {
    agents: served,
    sessions,
    runs,
    messages: store.messages,
    waits,
    apps: createLaterApps(shared),
    stats: () => ({
      activeRuns: runner.active,
      queuedRuns: runner.queued,
      readers: presence.readers,
      runsStarted,
      runsFinished: runner.finished,
      tokens: runner.tokens,
      takenOver: runner.takenOver,
      replica: runner.leaseOwner,
      draining: runner.draining,
    }),
    recover: () => runner.recover(),
    drain: (ms, how) => runner.drain(ms, how),
    close() {
      summaries.stop()
      return runner.close()
    },
  }
}

/** Most servers have no apps, so their code is loaded for the first one. */
function createLaterApps(parts: EngineParts): Apps {
  let opening: Promise<Apps> | undefined
  return {
    async request(...asked) {
      opening ??= import('./apps/create-apps.ts').then(({ createApps }) => createApps(parts))
      return (await opening).request(...asked)
    },
  }
}

/** Agents that only other agents call are not served. */
function createServedAgents(all: ReadonlyMap<string, AgentParts>): Agents {
  const served = [...all.values()].map(({ definition }) => definition).filter((one) => !one.internal)
  // Those that operators start answer in the sessions that were started with them.
  const list = served.filter(({ host }) => host?.workspace !== null)
  const fallback = list.find((one) => one.default) ?? list[0]

  function get(name: string | null): AgentDefinition {
    const found = name === null ? fallback : served.find((one) => one.name === name)
    if (found !== undefined) return found
    const names = list.map((one) => one.name).join(', ')
    throw agentNotFound(name, ` Agents: ${names}.`)
  }

  return {
    list,
    get,
    async tools(name, signal, user) {
      const parts = all.get(get(name).name)
      return parts === undefined ? [] : [...(await parts.toolbox.tools(signal, user)).values()]
    },
  }
}
