// An engine on a real SQLite store in memory (or in a file, to be opened again), with a scripted model.

import { type HostAgent, type ModelAgent, modelName } from '../../domain/agent/agent.ts'
import { type Clock, createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import { type Logger, silentLogger } from '../../domain/logger.ts'
import type { Entry } from '../../domain/session/entry.ts'
import type { RunEvent } from '../../domain/session/event.ts'
import type { RunInput } from '../../domain/session/run.ts'
import { noStepUp, type StepUp } from '../../domain/supervision/step-up.ts'
import { noTelemetry } from '../../domain/telemetry.ts'
import { createNotes } from '../../log/notes.ts'
import { createSessionLog } from '../../log/session-log.ts'
import { createLocalWake, type Wake } from '../../log/wake.ts'
import type { Model, ModelRequest } from '../../models/model.ts'
import type { ScriptedOptions } from '../../models/scripted/scripted.ts'
import { scriptedModel } from '../../models/testing/scripted-model.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import type { Store } from '../../store/store.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import { type CallRules, createCallRules } from '../../supervision/approvals/call-rules.ts'
import { createApprovals } from '../../supervision/approvals/create-approvals.ts'
import { createGate } from '../../supervision/approvals/create-gate.ts'
import { createOversight } from '../../supervision/oversight/oversight.ts'
import { createReadCosts } from '../../supervision/oversight/usage-report.ts'
import { createRealPath } from '../../supervision/policy/real-path.ts'
import { createAssessWork } from '../../supervision/risk/assess-work.ts'
import { everybody, type Operators } from '../../supervision/sessions/may-command.ts'
import { createStaticToolbox } from '../../tools/create-toolbox.ts'
import type { ServerTool, Tool, Toolbox } from '../../tools/tool.ts'
import { createEngine, type EngineOptions, type PreparedAgent } from '../create-engine.ts'
import { createFeed } from '../feed.ts'
import type { Files } from '../files-port.ts'
import { createMemories } from '../memories/memories.ts'
import type { Middleware } from '../middleware/middleware.ts'
import type { HostWork } from '../ports/host-work.ts'
import type { EngineReplicas } from '../ports/replicas.ts'
import type { AcceptedRun, StartRequest } from '../ports/runs.ts'
import { createLocalPresence, type Presence } from '../sessions/presence.ts'
import { noHostWork } from './no-host-work.ts'

type ModelPrepared = Extract<PreparedAgent, { model: Model }>

export interface TestEngineOptions {
  operators?: Operators
  stepUp?: StepUp
  answers?: ScriptedOptions['answers']
  onRequest?: ((request: ModelRequest) => void) | undefined
  model?: Model
  /** Models that a run may try in its place. */
  tried?: readonly Model[]
  /** Makes summaries in the model's place. */
  summarizer?: Model
  tools?: readonly Tool[]
  /** Replaces `tools`. */
  toolbox?: Toolbox
  agent?: Partial<ModelAgent>
  limits?: Partial<EngineOptions['limits']>
  admit?: EngineOptions['admit']
  acceptWithinMs?: number
  middleware?: readonly Middleware[]
  /** Absent: the real ones, with the grants of the store. */
  rules?: CallRules
  files?: Files
  logger?: Logger
  /** Agents beside the tester. */
  others?: readonly (Omit<ModelPrepared, 'tried' | 'summarizer'> & Partial<ModelPrepared>)[]
  /** Agents in a coding agent's program. */
  hosted?: readonly HostAgent[]
  /** Does the work of `hosted`. */
  hostWork?: HostWork
  clock?: Clock
  path?: string
  store?: Store
  wake?: Wake
  presence?: Presence
  /** Absent: in memory. */
  shared?: EngineOptions['shared']
  /** Absent: yes. */
  isOnlyProcess?: boolean
  leaseOwner?: string
  otherProcesses?: EngineReplicas['others']
}

export const testAgent: ModelAgent = {
  name: 'tester',
  description: 'An agent for tests.',
  directory: '.',
  default: true,
  internal: false,
  instructions: 'You are a test.',
  model: {
    provider: 'scripted',
    name: 'script',
    contextWindow: 128_000,
    retries: 0,
    firstTokenTimeoutMs: 60_000,
    tokenTimeoutMs: 60_000,
  },
  host: null,
  tools: [],
  responseFormat: null,
  limits: {
    steps: 25,
    tokens: null,
    durationMs: 900_000,
    cost: null,
    toolCalls: 100,
    identicalCalls: 3,
    parallelCalls: 8,
    toolResultChars: 50_000,
    answerChars: 1_000_000,
    storedMessageChars: 100_000,
  },
  context: { maxMessages: 200, mode: 'window' },
  sessions: { ttlSeconds: 1_800, onExpiry: 'continue', retentionDays: 30, onBusy: null },
  approval: { default: { ask: 'never' }, policy: [], by: 'operator', expiresSeconds: 3_600 },
  testCases: [],
  judge: null,
  summarizer: null,
}

/** A model that gives these answers in turn, again and again. */
export const scripted = (answers: ScriptedOptions['answers']): Model => scriptedModel({ answers, loop: true })

/** A tool that needs no approval. */
export const testTool = (tool: Pick<ServerTool, 'name' | 'call'> & Partial<ServerTool>): ServerTool => ({
  location: 'server',
  description: 'A tool for tests.',
  parameters: { type: 'object' },
  returns: null,
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  retries: 0,
  approval: null,
  predictState: [],
  binding: 'test',
  ...tool,
})

export function openEngine(options: TestEngineOptions = {}) {
  const clock = options.clock ?? createSystemClock()
  const ids = createIds(clock.now)
  const store = options.store ?? openTestStore(options.path)
  const wake = options.wake ?? createLocalWake({ clock, pollMs: null })
  const log = createSessionLog({ store, clock, wake })
  const feed = createFeed({ store: store.feed, wake })
  const model =
    options.model ??
    scriptedModel({
      answers: options.answers ?? [{ parts: [{ text: 'Hello.' }] }],
      clock,
      loop: true,
      onRequest: options.onRequest,
    })
  const { tried: others = [] } = options
  const tried = others.map(({ provider, name }) => ({ ...testAgent.model, provider, name }))
  const definition = { ...testAgent, ...(tried.length === 0 ? {} : { tried }), ...options.agent }
  const agents = [
    {
      definition,
      model,
      tried: new Map(others.map((one) => [modelName(one), one])),
      summarizer: options.summarizer ?? null,
      toolbox: options.toolbox ?? createStaticToolbox(options.tools ?? []),
    },
    ...(options.others ?? []).map((other) => ({ tried: new Map<string, Model>(), summarizer: null, ...other })),
  ]
  const logger = options.logger ?? silentLogger
  const rules =
    options.rules ??
    createCallRules({
      grants: store.grants,
      realPath: createRealPath,
      clock,
      assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
    })
  const { operators = everybody, stepUp = noStepUp } = options
  const supervision = {
    rules,
    agents,
    store,
    log,
    clock,
    ids,
    logger,
    operators,
    stepUp,
  }
  const toolbox = createStaticToolbox([])
  const memories = createMemories({ notes: createNotes({ log, outbox: store.outbox, clock }), clock })
  const engine = createEngine({
    memories,
    agents: [...agents, ...(options.hosted ?? []).map((definition) => ({ definition, toolbox }))],
    hostWork: options.hostWork ?? noHostWork,
    gate: createGate(supervision),
    store,
    log,
    wake,
    shared: options.shared ?? createLocalShared(clock),
    replicas: {
      owner: options.leaseOwner ?? ids.uuid(),
      isOnlyProcess: options.isOnlyProcess ?? true,
      isAlone: () => options.isOnlyProcess ?? true,
      others: options.otherProcesses ?? (() => []),
      presence: options.presence ?? createLocalPresence(clock),
    },
    clock,
    ids,
    logger,
    telemetry: noTelemetry,
    middleware: options.middleware ?? [],
    files: options.files ?? null,
    admit: options.admit ?? null,
    acceptWithinMs: options.acceptWithinMs ?? null,
    limits: { activeRuns: 100, sessions: null, queuedRuns: 8, disconnectGraceMs: 10_000, ...options.limits },
  })

  const all = createApprovals({ ...supervision, waits: engine.waits, answerAgent: null })
  /** Of our own agents: an answer always starts a run. */
  const approvals = {
    ...all,
    async decide(...decision: Parameters<Approvals['decide']>) {
      const { approval, run } = await all.decide(...decision)
      if (run === null) throw new Error('no run went on')
      return { approval, run }
    },
    /** The same for a yes that may need more of them. */
    say: all.decide,
  }
  const oversight = createOversight({ engine, store, log, clock })

  const start = (text: string, more: Partial<StartRequest> = {}): Promise<AcceptedRun> =>
    engine.runs.start({
      owner: 'local_user',
      agent: null,
      session: { create: { alias: 'thread' } },
      origin: 'background',
      input: userInput(ids.uuid(), text),
      ...more,
    })

  /** All events of a run, once it has ended. */
  const events = async ({ run, session }: AcceptedRun, after = 0): Promise<RunEvent[]> => {
    const found: RunEvent[] = []
    const target = { sessionId: session.id, runId: run.id, after }
    for await (const batch of engine.runs.follow(target, new AbortController().signal)) found.push(...eventsOf(batch))
    return found
  }

  const close = async () => {
    await engine.drain(0)
    feed.close()
    await approvals.close()
    await engine.close()
    await log.close()
    await store.close()
  }

  const readCosts = createReadCosts({
    usage: store.usage,
    prices: { currency: 'USD', models: { '*/*': { input: 1, output: 2 } } },
  })
  return {
    engine,
    memories,
    approvals,
    feed,
    oversight,
    readCosts,
    store,
    log,
    clock,
    ids,
    start,
    events,
    close,
    model,
  }
}

export const userInput = (id: string, content: string): RunInput => ({
  messages: [{ id, role: 'user', content }],
  instructions: [],
  context: [],
  clientTools: [],
})

export const eventsOf = (entries: readonly Entry[]): RunEvent[] =>
  entries.filter((entry) => entry.kind === 'event').map((entry) => JSON.parse(entry.data))

/** Events as short lines, for comparing whole runs: `TEXT_MESSAGE_CONTENT Hello`. */
export function outline(events: readonly RunEvent[]): string[] {
  return events.map((event) => {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS':
        return `${event.type} ${event.delta}`
      case 'TOOL_CALL_START':
        return `${event.type} ${event.toolCallName}`
      case 'TOOL_CALL_RESULT':
        return `${event.type} ${String(event.content)}`
      case 'STEP_STARTED':
      case 'STEP_FINISHED':
        return `${event.type} ${event.stepName}`
      case 'RUN_FINISHED':
        return `${event.type} ${event.outcome?.type}`
      case 'RUN_ERROR':
        return `${event.type} ${event.code}`
      default:
        return event.type
    }
  })
}
