// What the doors stand on: files, engine and supervision, wired on an open store.

import { join } from 'node:path'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import { withAgentPrices } from '../domain/agent/prices.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import { fileLimits } from '../domain/session/file.ts'
import { isPostgres } from '../domain/settings/store-settings.ts'
import type { StepUp } from '../domain/supervision/step-up.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import { createEngine, type EngineOptions } from '../engine/create-engine.ts'
import type { Engine } from '../engine/engine.ts'
import { createFeed, type Feed } from '../engine/feed.ts'
import { createEventLog, type Middleware } from '../engine/middleware/middleware.ts'
import { createJanitor, type Janitor } from '../engine/sessions/janitor.ts'
import { createJobs, createOwnJobs, type Jobs } from '../engine/sessions/jobs.ts'
import { createAttachedFiles } from '../files/attached-files.ts'
import type { FileKeeper } from '../files/file-keeper.ts'
import { createBlobFolder } from '../files/keep/blob-folder.ts'
import { createCachedBlobs } from '../files/keep/cached-blobs.ts'
import { createFileKeeper } from '../files/keep/create-file-keeper.ts'
import { createFileReader } from '../files/reader/create-file-reader.ts'
import type { FileKeys } from '../http/auth/file-keys.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Wake } from '../log/wake.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import { createDeskTools, deskInstructions } from '../protocols/mcp/desk-tools.ts'
import { createLaterDoor } from '../protocols/mcp/later-door.ts'
import type { McpDoor, McpDoorOptions } from '../protocols/mcp/mcp-door.ts'
import { createRoomResource } from '../protocols/mcp/room-resource.ts'
import { type SharedConnections, shareConnections } from '../protocols/mcp/share-connections.ts'
import { type Attachments, createAttachments, type FetchFile } from '../protocols/shared/request/attachments.ts'
import { createFileLinks, type FileLinks } from '../protocols/shared/request/file-links.ts'
import { type ChainCheck, createChainCheck } from '../store/chain-check.ts'
import { createLocalShared } from '../store/local-shared.ts'
import type { Store } from '../store/store.ts'
import { tieChains } from '../store/tie-chains.ts'
import { type AgentsElsewhere, createAgentsElsewhere } from '../supervision/agents-elsewhere.ts'
import type { Approvals } from '../supervision/approvals/approvals.ts'
import { createCallRules } from '../supervision/approvals/call-rules.ts'
import { createApprovals } from '../supervision/approvals/create-approvals.ts'
import { createGate } from '../supervision/approvals/create-gate.ts'
import { createNoteShown, type NoteShown } from '../supervision/approvals/note-shown.ts'
import { createReadDiff, type ReadDiff } from '../supervision/approvals/read-diff.ts'
import { createRevealSecret, type RevealSecret } from '../supervision/approvals/reveal-secret.ts'
import { createInbox, type Inbox } from '../supervision/inbox/inbox.ts'
import { type AuditTrail, createAuditTrail } from '../supervision/oversight/audit-trail.ts'
import { createDayLimits, type DayLimits } from '../supervision/oversight/day-limits.ts'
import { createNoteRefused, type NoteRefused } from '../supervision/oversight/note-refused.ts'
import { createOversight, type Oversight } from '../supervision/oversight/oversight.ts'
import { createReadUsage, type ReadUsage } from '../supervision/oversight/usage-report.ts'
import type { Reach } from '../supervision/reach.ts'
import { type AnswerRecord, createAnswerRecord } from '../supervision/records/answer-record.ts'
import { configuredOperators } from '../supervision/sessions/configured-operators.ts'
import type { SupervisedSessions } from '../supervision/sessions/supervised-sessions.ts'
import type { Nudge } from '../supervision/stalls/stalls.ts'
import type { Workspaces } from '../supervision/workspace/allowed-workspace.ts'
import type { Team } from './open-log.ts'
import type { Replica } from './open-replica.ts'

export interface Services {
  engine: Engine
  approvals: Approvals
  answer: AnswerRecord
  feed: Feed
  inbox: Inbox
  readDiff: ReadDiff
  revealSecret: RevealSecret
  noteShown: NoteShown
  noteRefused: NoteRefused
  oversight: Oversight
  trail: AuditTrail
  chain: ChainCheck['state']
  readUsage: ReadUsage
  dayLimits: DayLimits
  mcp: McpDoor
  elsewhere: AgentsElsewhere
  janitor: Janitor
  jobs: Jobs
  keeper: FileKeeper
  attachments: Attachments
  links: FileLinks
  clock: Clock
  version: string
}

interface ServiceParts {
  agents: EngineOptions['agents']
  settings: ServerSettings
  store: Store
  sessionLog: SessionLog
  wake: Wake
  connections: Connections
  fileKeys: FileKeys
  middleware: readonly Middleware[]
  telemetry: Telemetry
  reach: Reach
  /** What needs a passkey. */
  stepUp: StepUp
  workspaces: Workspaces
  /** See `createServerPlaces`. */
  serverPaths: readonly string[]
  /** Once an hour. */
  tidy: () => Promise<void>
  /** Name of this process. */
  owner: string
  /** Null: one process owns the store. */
  team: Team | null
  /** What the processes on one store tell each other. Null: this is the only one. */
  replica: Replica | null
  /** Added to the MCP door beside our own tools. */
  mcpExtension?: McpDoorOptions['extension']
  dataDir: string
  basePath: string
  version: string
  clock: Clock
  ids: Ids
  log: Logger
}

/** What is opened here is closed by `undo`, the newest first: approvals before the engine, the engine before the readers of files. */
export async function createServices(parts: ServiceParts, undo: AsyncDisposableStack): Promise<Services> {
  const { agents, settings, store, sessionLog, wake, telemetry, team, replica, clock, ids, log } = parts
  const jobs =
    team === null ? createOwnJobs(clock) : createJobs({ shared: team.shared, owner: parts.owner, clock, logger: log })
  const { keeper, files } = openFiles(parts, undo)
  const { supervision: people } = settings
  const supervision = {
    rules: createCallRules({ grants: store.grants, clock }),
    agents,
    operators: configuredOperators(people.operators, people.escalation, people.operatorGroups),
    stepUp: parts.stepUp,
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
    ...{ limits: settings.limits.perDay, prices, usage: store.usage, clock, logger: log },
    shared: team?.shared ?? createLocalShared(clock),
    isKept: team !== null,
  })
  const engine = createEngine({
    agents,
    store,
    log: sessionLog,
    wake,
    leaseOwner: parts.owner,
    // Without a team, the lock of the data directory proves it.
    isOnlyProcess: team === null,
    ...(team === null ? {} : { presence: team.presence, isAlone: team.isAlone, otherProcesses: team.others }),
    clock,
    ids,
    logger: log,
    telemetry,
    files,
    gate: createGate(supervision),
    admit: dayLimits.admit,
    ...(isPostgres(settings.store) ? { acceptWithinMs: settings.store.waitMs + ANSWER_MS } : {}),
    middleware: [...parts.middleware, ...(settings.log.content ? [createEventLog(log)] : [])],
    limits: {
      activeRuns: settings.limits.activeRuns,
      sessions: settings.limits.sessions,
      queuedRuns: settings.limits.queue,
      disconnectGraceMs: settings.limits.disconnectGraceMs,
    },
  })
  undo.defer(() => engine.close())
  const feed = createFeed({ store: store.feed, wake })
  undo.defer(() => feed.close())
  const elsewhere = createAgentsElsewhere({
    store,
    log: sessionLog,
    feed,
    clock,
    ids,
    logger: log,
    settings: settings.supervision,
    workspaces: parts.workspaces,
    serverPaths: parts.serverPaths,
    shared: replica?.shared ?? createLocalShared(clock),
    ...(replica === null ? {} : { together: replica }),
    jobs,
    push: async (nudge) => pushNudge(connections, elsewhere.sessions, nudge),
    reach: parts.reach,
    isConnected: (connectionId) => connections.isOpen(connectionId),
  })
  undo.defer(() => elsewhere.close())
  const approvals = createApprovals({ ...supervision, waits: engine.waits, answerAgent: elsewhere.answerAgent })
  undo.defer(() => approvals.close())
  const janitor = createJanitor({
    engine,
    files,
    store,
    log: sessionLog,
    clock,
    logger: log,
    sessions: settings.sessions,
    unsentFileSeconds: settings.files.unsentTtlSeconds,
    jobs,
    ...(team === null ? {} : { tidyReplicas: () => keepTeamTidy(parts, team) }),
    expireElsewhere: elsewhere.expire,
    sweepElsewhere: elsewhere.sweep,
    tidyElsewhere: parts.tidy,
  })
  const attachments = createAttachments({
    files: keeper,
    readable: async (file, signal) => void (await files.read(file, signal)),
    fetchFile: settings.files.urls ? await fileFetcher(parts.connections, settings.tools.proxy) : null,
  })
  const mcp = createLaterDoor({
    version: parts.version,
    instructions: deskInstructions,
    tools: createDeskTools(elsewhere.desk),
    resources:
      settings.supervision.slack.channels.length === 0
        ? []
        : [createRoomResource({ sessions: elsewhere.sessions, reach: parts.reach })],
    connections: elsewhere.mcpConnections,
    onEnd: elsewhere.sessions.goodbye,
    telemetry,
    clock,
    ids,
    log,
    ...(parts.mcpExtension === undefined ? {} : { extension: parts.mcpExtension }),
  })
  undo.defer(() => mcp.close())
  const connections = shareConnections(mcp, replica)
  return {
    engine,
    approvals,
    answer: createAnswerRecord({ approvals, prompts: elsewhere.prompts, stalls: elsewhere.stalls }),
    feed,
    readDiff: createReadDiff(store),
    noteShown: createNoteShown({ waits: store.waits, log: sessionLog, clock }),
    noteRefused: createNoteRefused({
      audit: (record) => sessionLog.commit({ type: 'add_audit', audit: [record] }),
      ...{ clock, logger: log },
    }),
    revealSecret: createRevealSecret({ waits: store.waits, log: sessionLog, clock }),
    inbox: createInbox({ waits: store.waits, log: sessionLog, feed, clock }),
    mcp,
    elsewhere,
    oversight: createOversight({ engine, store, log: sessionLog, clock }),
    trail: createAuditTrail({ reads: store.audit, log: sessionLog, clock }),
    chain: createChainCheck({ reads: store.audit, clock }).state,
    readUsage: createReadUsage({
      usage: store.usage,
      sessions: store.sessions,
      prices,
      models: engine.agents.list.map(({ model }) => model),
    }),
    dayLimits,
    janitor,
    jobs,
    keeper,
    attachments,
    links: createFileLinks({ keys: parts.fileKeys, basePath: parts.basePath }),
    clock,
    version: parts.version,
  }
}

/** Pushes a nudge through the connection of the agent, if it has one that is open. */
async function pushNudge(
  connections: SharedConnections,
  sessions: Pick<SupervisedSessions, 'get'>,
  { sessionId, message, nudgeCount, idleSeconds, source }: Nudge,
): Promise<string | null> {
  const { connectionId, progressSnapshot } = (await sessions.get(sessionId)).supervision
  if (connectionId === null) return null
  const params = {
    session_id: sessionId,
    message,
    nudge_count: nudgeCount,
    idle_seconds: idleSeconds,
    source,
    progress_snapshot: progressSnapshot,
  }
  const way = await connections.push(connectionId, { method: 'quarterdeck/nudge', params, message })
  return way === null ? null : way === 'stream' ? 'notification' : 'notification during a call'
}

/** Once an hour, by one process of a team. */
async function keepTeamTidy({ store, sessionLog, clock, owner }: ServiceParts, { shared, tidy }: Team): Promise<void> {
  await tidy()
  await tieChains({ reads: store.audit, shared, commit: sessionLog.commit, clock, writer: owner })
}

/** How much of the files that replicas share each of them keeps at hand. */
const CACHED_BYTES = 1024 ** 3

/** A database that cannot be reached is reported by the store itself, which takes a little longer than it waits. */
export const ANSWER_MS = 3_000

function openFiles(
  { settings, store, sessionLog, team, dataDir, clock, ids, log }: ServiceParts,
  undo: AsyncDisposableStack,
) {
  const cached = { dir: join(dataDir, 'file-cache'), maxBytes: CACHED_BYTES, newId: () => ids.uuid(), log }
  const keeper = createFileKeeper({
    blobs:
      team === null ? createBlobFolder(join(dataDir, 'files')) : createCachedBlobs({ shared: team.blobs, ...cached }),
    store: store.files,
    commit: (command) => sessionLog.commit(command),
    clock,
    ids,
    log,
    unsent: { bytes: settings.files.unsentBytes, ttlSeconds: settings.files.unsentTtlSeconds },
  })
  const cacheDir = join(dataDir, 'extracts')
  const reader = createFileReader({ cacheDir, clock, log, environment: process.env })
  undo.defer(() => reader.close())
  return { keeper, files: createAttachedFiles({ keeper, reader, cacheDir, store: store.files }) }
}

/** Loaded only when the settings allow fetching files. */
async function fileFetcher(connections: Connections, proxyVariables: ProxyVariables | null): Promise<FetchFile> {
  const { createFetchFile } = await import('../tools/http/service/fetch-file.ts')
  const { createServiceHttp, systemLookup } = await import('../tools/http/service/service-http.ts')
  return createFetchFile(
    createServiceHttp({
      connections,
      proxied: proxyVariables === null ? null : connections.pool({ proxyVariables }),
      lookup: systemLookup,
      maxBytes: fileLimits.base64Bytes,
    }),
  )
}
