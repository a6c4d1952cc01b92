// What a server needs before it starts: agents with their models and tools, the secrets of channels, the certificate, the guard.

import { realpathSync } from 'node:fs'
import { type AgentDefinition, type HostAgent, modelName } from '../domain/agent/agent.ts'
import type { ByteBudget } from '../domain/byte-budget.ts'
import { hasCode, ServerError } from '../domain/errors.ts'
import { createIds, type Ids } from '../domain/ids.ts'
import { mostNeeded } from '../domain/supervision/quorum.ts'
import type { EngineOptions, PreparedAgent } from '../engine/create-engine.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import { createGuard, type Guard } from '../http/server/guard.ts'
import { readBasePath } from '../http/server/target.ts'
import { readTlsPair, type TlsPair } from '../http/server/tls-pair.ts'
import type { ServerState } from '../http/server-state.ts'
import { createJsonCheck } from '../json/json-schema.ts'
import { createComplete } from '../models/complete.ts'
import { createModel } from '../models/create-model.ts'
import type { Model } from '../models/model.ts'
import { createModelHttp, type ModelHttp } from '../models/wire/model-http.ts'
import { type ChannelCredentials, readChannelCredentials } from '../operators/credentials/credentials.ts'
import { type Connections, createConnections } from '../outgoing/connections.ts'
import type { DataDirLock } from '../store/sqlite/disk/data-dir-lock.ts'
import { findProgram } from '../supervision/commands/find-program.ts'
import { configuredOperators, type Operators } from '../supervision/sessions/may-command.ts'
import { findSandbox } from '../supervision/spawn/sandbox.ts'
import { createToolbox } from '../tools/create-toolbox.ts'
import type { SignIns } from '../tools/mcp/auth/sign-ins.ts'
import { createStartQueue, PATIENCE_MS } from '../tools/mcp/start-queue.ts'
import { createProcessGroups, type ProcessGroups } from '../tools/process/process-groups.ts'
import type { Tool, Toolbox } from '../tools/tool.ts'
import type { AppOptions } from './app-options.ts'
import type { Documents, knowledgeOf } from './knowledge/knowledge-of.ts'
import type { openSignIns } from './open-sign-ins.ts'
import { createReplicaClock, type ReplicaClock } from './replica-clock.ts'

/** The options, and what was made of them. */
export interface Prepared extends Omit<AppOptions, 'clock' | 'credentials'> {
  /** The people that the settings name. */
  operators: Operators
  parts: EngineOptions['agents']
  /** Who answers where no agent is named. */
  answering: EngineOptions['agents'][number]
  credentials: ChannelCredentials
  connections: Connections
  /** Null: no agent has documents, or another app keeps them. */
  documents: Documents | null
  /** Null: no agent has an MCP server that wants a sign-in. */
  mcpSignIns: SignIns | null
  processes: ProcessGroups
  tls: TlsPair | null
  guard: Guard
  clock: ReplicaClock
  ids: Ids
  /** Call it when the server has ended, or was never started. */
  close(): Promise<void>
}

/** The same, and what exists from the first moment of a start. */
export interface Base extends Prepared {
  lock: DataDirLock
  /** Name of this process. */
  owner: string
  /** Monotonic ms. */
  startedAt: number
  state: ServerState
  metrics: Metrics
  readerBudget: ByteBudget
}

/** A start that could only refuse every message is refused itself. */
async function checkedHost(definition: HostAgent): Promise<HostAgent> {
  const { name, host } = definition
  const search = { searchPath: process.env.PATH ?? '', workspaces: [] }
  const { found, why } = { why: '', ...(await findSandbox(findProgram('bwrap', search).program)) }
  if (found === null && !host.unconfined) {
    throw new ServerError(
      'config_invalid',
      `The agent ${name} works in a coding agent’s program, and nothing here confines it: ${why}. Install bubblewrap (on Debian: apt install bubblewrap), or write unconfined: true under host if you accept that it can write anywhere.`,
    )
  }
  const workspace = host.workspace === null ? null : realpathSync(host.workspace)
  return { ...definition, host: { ...host, workspace, unconfined: found === null } }
}

/** The program of a hosted agent has its own. */
export const noTools: Toolbox = {
  start() {},
  tools: async () => new Map(),
  servers: () => [],
  async close() {},
}

/** Throws `config_invalid`, and leaves nothing open then. */
export async function prepareApp(options: AppOptions): Promise<Prepared> {
  const { settings, agents, strays } = options
  const { operators, escalation, operatorGroups } = settings.supervision
  // Nobody here knows how many members a group has.
  refuseLargeQuorum(agents, operatorGroups.length > 0 ? Number.POSITIVE_INFINITY : operators.length)
  const clock = createReplicaClock(options.clock)
  await refuseWrongTimes(agents, clock.now())
  const ids = createIds(clock.now)
  // What is opened here is closed in reverse order: at the app's end, or now if something is wrong.
  await using undo = new AsyncDisposableStack()

  const connections = createConnections()
  undo.defer(() => connections.close())
  const processes = createProcessGroups({ clock, process })
  const { log, version } = options
  const proxyVariables = settings.tools.proxy
  const mcpSignIns = await openSignInsOf(agents, { connections, proxyVariables, clock, log, version })
  const modelHttp = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
  const documents =
    options.knowledge === null
      ? await openDocuments(agents, { http: modelHttp, clock, ids, random: Math.random, log }, { wordsAtLeast: false })
      : null
  const knowledge = options.knowledge ?? documents?.knowledge ?? null
  const parts = await prepareAgents(
    options,
    { connections, processes, strays, clock, ids, mcpSignIns, modelHttp, knowledge },
    undo,
  )
  const served = parts.filter(({ definition }) => !definition.internal)
  const answering = served.find(({ definition }) => definition.default) ?? served[0]
  if (answering === undefined) throw new ServerError('config_invalid', 'There is no agent to serve.')
  const credentials = await readChannelCredentials(settings, options.credentials)
  const tls = settings.tls === null ? null : readTlsPair(settings.tls)
  const guard = createGuard({
    host: settings.host,
    loopbackOnly: settings.loopback,
    tokenRequired: settings.auth.required,
    allowedHosts: settings.allowedHosts,
    origins: settings.cors.origins,
    publicUrl: settings.channels.publicUrl,
  })
  const basePath = readBasePath(options.basePath)
  const everything = undo.move()
  return {
    ...options,
    operators: configuredOperators(operators, escalation, operatorGroups),
    parts,
    documents,
    knowledge,
    answering,
    credentials,
    connections,
    mcpSignIns,
    processes,
    tls,
    guard,
    clock,
    ids,
    basePath,
    close: () => everything.disposeAsync(),
  }
}

/** Null, and nothing is loaded: no agent has documents. */
async function openDocuments(...[agents, deps, how]: Parameters<typeof knowledgeOf>): Promise<Documents | null> {
  const hasSome = agents.some(({ tools }) => tools.some(({ type }) => type === 'knowledge'))
  return hasSome ? (await import('./knowledge/knowledge-of.ts')).knowledgeOf(agents, deps, how) : null
}

/** Null, and nothing is loaded: no agent has an MCP server that wants a sign-in. */
async function openSignInsOf(...[agents, deps]: Parameters<typeof openSignIns>): Promise<SignIns | null> {
  const wantsOne = agents.some(({ tools }) =>
    tools.some(({ type, ...one }) => type === 'mcp' && 'connection' in one && 'auth' in one.connection),
  )
  return wantsOne ? (await import('./open-sign-ins.ts')).openSignIns(agents, deps) : null
}

/** Throws `config_invalid` if an agent asks for more yeses than there are people. Its calls could never be approved. */
function refuseLargeQuorum(agents: AppOptions['agents'], people: number): void {
  for (const { name, approval } of agents) {
    const needed = approval.quorum === undefined ? 1 : mostNeeded(approval.quorum)
    if (needed <= people) continue
    throw new ServerError(
      'config_invalid',
      `The agent ${name} asks for ${needed} yeses (approval.quorum), and there ${people === 1 ? 'is only one operator' : `are only ${people} operators`}. Add some to \`operators\` in quarterdeck.yaml, or lower it.`,
    )
  }
}

async function skillTools({ skills, limits, model }: AgentDefinition): Promise<Tool[]> {
  if (skills === undefined || model === null) return []
  const { createSkillTool } = await import('../tools/create-skill-tool.ts')
  return [createSkillTool(skills, Math.min(limits.toolResultChars, model.contextWindow))]
}

/** Throws `config_invalid` for a cron expression that cannot be read. */
async function refuseWrongTimes(agents: AppOptions['agents'], now: number): Promise<void> {
  for (const { name, schedules = [] } of agents) {
    for (const { name: schedule, times } of schedules) {
      if (times.type !== 'cron') continue
      const problem = (await import('../schedules/times.ts')).timesProblem(times, now)
      if (problem !== null) throw new ServerError('config_invalid', `The schedule ${schedule} of ${name}: ${problem}`)
    }
  }
}

/** The file of the agent does not have the mistake, so the error says where it stands. */
const cannotTry = (name: string) => (error: unknown) => {
  if (!hasCode(error, 'config_invalid')) throw error
  throw new ServerError('config_invalid', `${name} under try_models in the settings of the server: ${error.message}`)
}

async function prepareAgents(
  { agents, settings, version, log, tools, reload }: AppOptions,
  shared: Pick<Prepared, 'connections' | 'processes' | 'strays' | 'clock' | 'ids' | 'mcpSignIns' | 'knowledge'> & {
    modelHttp: ModelHttp
  },
  undo: AsyncDisposableStack,
): Promise<Prepared['parts']> {
  const { connections, processes, strays, clock, ids, mcpSignIns, modelHttp, knowledge } = shared
  const queue = createStartQueue()
  const known = await Promise.all(
    agents.map(async (one) => ({ ...one, given: [...(await skillTools(one)), ...(tools[one.name] ?? [])] })),
  )
  return Promise.all(
    agents.map(async (definition, index): Promise<PreparedAgent> => {
      if (definition.host !== null) return { definition: await checkedHost(definition), toolbox: noTools }
      const { directory } = definition
      const deps = { http: modelHttp, clock, ids, random: Math.random, log, directory }
      const model = await createModel(definition.model, deps)
      const tried = new Map<string, Model>()
      for (const one of definition.tried ?? []) {
        const name = modelName(one)
        tried.set(name, await createModel(one, deps).catch(cannotTry(name)))
      }
      const unenforced = definition.responseFormat === null ? [] : createJsonCheck(definition.responseFormat).warnings
      if (unenforced.length > 0) {
        log.warn('The response_format is not enforced in full.', { agent: definition.name, warnings: unenforced })
      }
      const toolbox = await createToolbox(definition.tools, {
        clock,
        log,
        version,
        processes,
        queue,
        patienceMs: PATIENCE_MS,
        environment: process.env,
        connections,
        signIns: mcpSignIns?.of ?? null,
        proxyVariables: settings.tools.proxy,
        agents: known,
        complete: createComplete(model, definition.limits.answerChars),
        strays,
        extra: known[index]?.given ?? [],
        reload,
        knowledge,
      })
      undo.defer(() => toolbox.close())
      const summarizer = definition.summarizer === null ? null : await createModel(definition.summarizer, deps)
      return { definition, model, tried, summarizer, toolbox }
    }),
  )
}
