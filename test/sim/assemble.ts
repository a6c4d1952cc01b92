// One life of the server, put together as `app.ts` does it, with every port from the simulator.

import type { AgentDefinition, ModelAgent } from '../../src/domain/agent/agent.ts'
import type { Clock } from '../../src/domain/clock.ts'
import { createIds } from '../../src/domain/ids.ts'
import type { Logger } from '../../src/domain/logger.ts'
import { isTerminalText } from '../../src/domain/session/event.ts'
import { noStepUp } from '../../src/domain/supervision/step-up.ts'
import { noTelemetry } from '../../src/domain/telemetry.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { createMemories } from '../../src/engine/memories/memories.ts'
import { onlyProcess } from '../../src/engine/ports/replicas.ts'
import type { Janitor } from '../../src/engine/sessions/janitor.ts'
import { createJobs } from '../../src/engine/sessions/jobs.ts'
import { createLocalPresence } from '../../src/engine/sessions/presence.ts'
import { createSharedPresence } from '../../src/engine/sessions/shared-presence.ts'
import { noHostWork } from '../../src/engine/testing/no-host-work.ts'
import { openJanitor } from '../../src/engine/testing/open-janitor.ts'
import { createNotes } from '../../src/log/notes.ts'
import { createNotifiedWake } from '../../src/log/notified-wake.ts'
import { createSessionLog, type SessionLog } from '../../src/log/session-log.ts'
import { createLocalWake } from '../../src/log/wake.ts'
import { createLocalShared } from '../../src/store/local-shared.ts'
import type { NewEntry } from '../../src/store/ports/journal.ts'
import type { Notifications } from '../../src/store/ports/notifications.ts'
import type { ReaderRows } from '../../src/store/ports/reader-rows.ts'
import type { Shared } from '../../src/store/ports/shared.ts'
import type { Store } from '../../src/store/store.ts'
import type { AgentsElsewhere } from '../../src/supervision/agents-elsewhere.ts'
import type { Approvals } from '../../src/supervision/approvals/approvals.ts'
import { createCallRules } from '../../src/supervision/approvals/call-rules.ts'
import { createApprovals } from '../../src/supervision/approvals/create-approvals.ts'
import { createGate } from '../../src/supervision/approvals/create-gate.ts'
import type { HostedWork } from '../../src/supervision/hosted/create-host-work.ts'
import { createRealPath } from '../../src/supervision/policy/real-path.ts'
import { createAssessWork } from '../../src/supervision/risk/assess-work.ts'
import { everybody } from '../../src/supervision/sessions/may-command.ts'
import { createStaticToolbox } from '../../src/tools/create-toolbox.ts'
import { serveElsewhere } from './elsewhere/serve-elsewhere.ts'
import type { ElsewhereWorld } from './elsewhere/world.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import { serveHosted } from './hosted/serve-hosted.ts'
import type { HostedWorld } from './hosted/world.ts'
import type { Kernel } from './kernel.ts'
import type { Mutant } from './mutant.ts'
import type { SimProcess } from './process.ts'
import type { Random } from './random.ts'
import { createSimModel } from './sim-model.ts'
import { createSimStore } from './sim-store.ts'
import { agentNames, createSimTools } from './sim-tools.ts'

export interface Serving {
  process: SimProcess
  engine: Engine
  approvals: Approvals
  janitor: Janitor
  log: SessionLog
  /** Null: nobody works elsewhere in this trial. */
  elsewhere: AgentsElsewhere | null
  /** The store without its distance, to look at. */
  inner: Store
  /** What readers of a session may be shown since this life began; of replicas, since the first one began. */
  showable: Map<string, Showable[]>
  /** Ends what stands beside the engine. */
  close(): Promise<void>
}

/** What a replica has in common with others. */
export interface Sharing {
  replica: string
  rows: ReaderRows
  shared: Shared
  notifications: Notifications
  showable: Map<string, Showable[]>
}

export interface Showable {
  seq: number
  runId: string
  kind: 'event' | 'fact'
  at: number
}

export interface AssembleDeps {
  kernel: Kernel
  faults: Faults
  history: History
  definition: AgentDefinition
  toolTimeoutMs: number
  isCalm: () => boolean
  mutant: Mutant | null
  /** Null: nobody works elsewhere in this trial. */
  elsewhere: ElsewhereWorld | null
  /** Null: the agent has a model. */
  hosted: HostedWorld | null
}

const ENGINE_LIMITS = { activeRuns: 50, sessions: null, queuedRuns: 4 }

/** `inner` is the store as it was opened; `draw` is this life's randomness. */
export function assemble(
  deps: AssembleDeps,
  process: SimProcess,
  inner: Store,
  draw: Random,
  sharing: Sharing | null = null,
): Serving {
  const { kernel, faults, history, isCalm, mutant } = deps
  const clock = mutant?.clock?.(process.clock) ?? process.clock
  const ids = createIds(clock.now, (size) => draw.bytes(size))
  const logger = traceLogger(kernel)
  const world = { process, random: draw.fork('mutant') }
  const showable = sharing?.showable ?? new Map<string, Showable[]>()
  const callFaults = draw.fork('calls')

  function noteShowable(sessionId: string, runId: string, firstSeq: number, entries: readonly NewEntry[]): void {
    // What a replica has written is there for the others, also if it died meanwhile.
    if (!process.alive && sharing === null) return
    const list = showable.get(sessionId) ?? []
    showable.set(sessionId, list)
    for (const [i, { kind, data }] of entries.entries()) {
      list.push({ seq: firstSeq + i, runId, kind, at: kernel.time })
      if (kind === 'event' && isTerminalText(data)) history.ends.set(runId, kernel.time)
    }
  }

  const store = createSimStore({
    inner: noteCompactions(mutant?.store?.(inner, world) ?? inner, history),
    process,
    random: draw.fork('store'),
    callMs: faults.disk.callMs,
    fails: () => !isCalm() && callFaults.chance(faults.disk.callFails),
    onShowable: noteShowable,
  })
  const replica = sharing === null ? null : createReplica(deps, sharing, process, clock, logger, draw)
  const wake = replica?.wake ?? createLocalWake({ clock, pollMs: null })
  const plainLog = createSessionLog({ store, clock, wake })
  const log = mutant?.log?.(plainLog, world) ?? plainLog
  const tools = createSimTools({
    random: draw.fork('tools'),
    faults,
    history,
    kernel,
    clock,
    life: process.number,
    timeoutMs: deps.toolTimeoutMs,
    isCalm,
  })
  const changedRules = draw.fork('rules').chance(faults.rulesChange) ? process.number : 0
  const { definition: root } = deps
  const modelAgents =
    root.host !== null
      ? []
      : agentNames.map((name) => {
          const definition = definitionOf(root, name, changedRules)
          return {
            definition: mutant?.definition?.(definition) ?? definition,
            model: createSimModel({ random: draw.fork(`model ${name}`), faults: faults.model, history, clock, isCalm }),
            tried: new Map(),
            summarizer: null,
            toolbox: createStaticToolbox(mutant?.tools?.(tools[name]) ?? tools[name]),
          }
        })
  const hostAgents = root.host === null ? [] : [{ definition: root, toolbox: createStaticToolbox([]) }]
  const agents = [...modelAgents, ...hostAgents]
  const rules = createCallRules({
    grants: store.grants,
    realPath: createRealPath,
    clock,
    assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
  })
  const supervision = { rules, agents, store, log, clock, ids, logger, operators: everybody, stepUp: noStepUp }
  const gate = createGate(supervision)
  const ownShared = sharing?.shared ?? createLocalShared(clock)
  const shared = mutant?.shared?.(ownShared) ?? ownShared
  const owner = sharing?.replica ?? ids.uuid()
  const parts = { process, store, log, wake, clock, ids, logger, random: draw.fork('elsewhere') }
  const supervised = deps.hosted?.supervision ?? deps.elsewhere
  const elsewhere: AgentsElsewhere | null =
    supervised === null
      ? null
      : serveElsewhere({
          ...parts,
          world: supervised,
          shared,
          owner,
          nudge: (id, text) => hosted?.nudge(id, text, true) === true,
        })
  const hosted: HostedWork | null =
    deps.hosted === null || elsewhere === null
      ? null
      : serveHosted(deps.hosted, deps, { ...parts, elsewhere, shared, owner, random: draw.fork('hosted') })
  const plainEngine = createEngine({
    agents,
    hostWork: hosted ?? noHostWork,
    memories: createMemories({ notes: createNotes({ log, outbox: store.outbox, clock }), clock }),
    gate: mutant?.gate?.(gate, world) ?? gate,
    store,
    log,
    wake,
    shared,
    // Like the lock of a data directory: a life begins when the one before it has ended.
    replicas: replica?.engine ?? onlyProcess(owner, createLocalPresence(clock)),
    clock,
    ids,
    logger,
    ...{ telemetry: noTelemetry, middleware: [], files: null, admit: null, acceptWithinMs: null },
    limits: { ...ENGINE_LIMITS, disconnectGraceMs: faults.graceMs },
  })
  const engine = mutant?.engine?.(plainEngine, world) ?? plainEngine
  const answerAgent = elsewhere?.answerAgent ?? null
  const approvals = createApprovals({ ...supervision, waits: engine.waits, answerAgent })
  const ttlSeconds = (faults.compactAfterMs ?? 1e9) / 1_000
  const sessions = { ttlSeconds, retentionDays: 0 }
  const swept =
    elsewhere === null
      ? {}
      : {
          expireElsewhere: elsewhere.expire,
          sweepElsewhere: elsewhere.sessions.sweep,
          tidyPrograms: async () => hosted?.tidy(),
        }
  const janitor = openJanitor({ engine, store, log, clock, logger, sessions, ...swept, ...replica?.janitor })
  async function close(): Promise<void> {
    await hosted?.close()
    await elsewhere?.close()
    await replica?.close()
  }
  return { process, engine, approvals, janitor, log, elsewhere, inner, showable, close }
}

/** What a replica needs to know of the others. */
function createReplica(
  { history, kernel, mutant }: AssembleDeps,
  sharing: Sharing,
  process: SimProcess,
  clock: Clock,
  logger: Logger,
  draw: Random,
) {
  const { replica, rows, notifications } = sharing
  const notified = createNotifiedWake({ notifications, clock, replica, findOthers: () => rows.others(replica) })
  const wake = mutant?.wake?.(notified) ?? notified
  const isAlone = () => notified.isAlone
  const shared = mutant?.shared?.(sharing.shared) ?? sharing.shared
  const presence = createSharedPresence({ rows, replica, clock, logger, isAlone })
  const world = { process, random: draw.fork('presence') }
  return {
    wake,
    engine: {
      presence: mutant?.presence?.(presence, world) ?? presence,
      owner: replica,
      isOnlyProcess: false,
      isAlone,
      others: () => notified.others,
    },
    janitor: {
      jobs: createJobs({ shared, owner: replica, clock, logger }),
      async tidyReplicas() {
        history.hourly.push({ life: process.number, at: kernel.time })
        await rows.tidy()
      },
    },
    async close() {
      await presence.close()
      notified.close()
    },
  }
}

/** `rules` numbers the version of what has to be asked about. */
function definitionOf(root: ModelAgent, name: string, rules: number): ModelAgent {
  const approval: ModelAgent['approval'] =
    rules === 0
      ? root.approval
      : { ...root.approval, default: { ask: 'when', any: [{ n: { equals: -rules } }], otherwise: 'run' } }
  return name === root.name ? { ...root, approval } : { ...root, approval, name, default: false, internal: true }
}

/** The server's own words, in the trace of the trial. */
function traceLogger(kernel: Kernel): Logger {
  const say = (message: string, fields: Record<string, unknown> = {}) => {
    const { run_id: run, error } = fields
    kernel.trace(`# ${message}${run === undefined ? '' : ` (${run})`}${error === undefined ? '' : `: ${error}`}`)
  }
  const logger: Logger = { debug: say, info: say, warn: say, error: say, with: () => logger }
  return logger
}

function noteCompactions(store: Store, history: History): Store {
  return {
    ...store,
    commit(commands) {
      for (const command of commands) {
        if (command.type === 'compact_session') history.compacted.add(command.sessionId)
      }
      return store.commit(commands)
    },
  }
}
