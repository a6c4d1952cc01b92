// Supervision: approvals, agents elsewhere, what the server does for them on this machine, and the MCP door that they come through.

import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { Telemetry } from '../domain/telemetry.ts'
import type { Feed } from '../engine/feed.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
import type { SessionLog } from '../log/session-log.ts'
import { agentInstructions, createAgentTools } from '../protocols/mcp/agent-tools.ts'
import { createLaterDoor, usualSessionLimits } from '../protocols/mcp/later-door.ts'
import type { McpDoor, McpDoorOptions } from '../protocols/mcp/mcp-door.ts'
import { createOpenClients } from '../protocols/mcp/open-clients.ts'
import { createRoomResource } from '../protocols/mcp/room-resource.ts'
import { type SharedConnections, shareConnections } from '../protocols/mcp/share-connections.ts'
import type { SessionReads } from '../store/ports/sessions.ts'
import type { Store } from '../store/store.ts'
import { type AgentsElsewhere, createAgentsElsewhere, filesOnDisk } from '../supervision/agents-elsewhere.ts'
import type { Messenger } from '../supervision/messenger.ts'
import type { Operators } from '../supervision/sessions/may-command.ts'
import type { Nudge } from '../supervision/stalls/stalls.ts'
import type { OwnFolders, Workspaces } from '../supervision/workspace/allowed-workspace.ts'
import type { ProcessGroups } from '../tools/process/process-groups.ts'
import { createSupervisedWork, type SupervisedWork } from './create-supervised-work.ts'
import type { StoreReplica } from './open-log.ts'
import { serverPaths } from './server-paths.ts'

export interface SupervisionParts {
  agents: readonly AgentDefinition[]
  settings: ServerSettings
  operators: Operators
  /** Absolute paths of all files that agents and settings were made of, or would be if they existed. */
  configFiles: readonly string[]
  store: Store
  sessionLog: SessionLog
  feed: Feed
  messenger: Messenger
  /** What needs a passkey. */
  tokens: Pick<Tokens, 'create' | 'revoke'>
  own: OwnFolders
  workspaces: Workspaces
  processes: ProcessGroups
  /** This process among those on the store. */
  replica: StoreReplica
  /** The URL that reaches this server from this machine. Null: it has no port. */
  localAddress: string | null
  telemetry: Telemetry
  /** Added to the MCP door beside our own tools. Null: nothing is. */
  mcpExtension: McpDoorOptions['extension']
  version: string
  clock: Clock
  ids: Ids
  log: Logger
}

interface BuiltSupervision {
  elsewhere: AgentsElsewhere
  work: SupervisedWork
  mcp: McpDoor
}

/** What is opened here is closed by `undo`. */
export function buildSupervision(parts: SupervisionParts, undo: AsyncDisposableStack): BuiltSupervision {
  const { agents, settings, configFiles, store, sessionLog, feed, messenger, own, workspaces, replica } = parts
  const { processes, tokens, localAddress, telemetry, clock, ids, log } = parts
  const ownPaths = serverPaths({ agents, settings, own, configFiles })
  const clients = createOpenClients()
  const connections = shareConnections(clients, replica)
  const elsewhere = createAgentsElsewhere({
    store,
    log: sessionLog,
    feed,
    clock,
    ids,
    logger: log,
    settings: settings.supervision,
    operators: parts.operators,
    workspaces,
    serverPaths: ownPaths,
    replica,
    jobs: replica.jobs,
    push: (nudge) => pushNudge(connections, store.sessions, nudge),
    messenger,
    isConnected: connections.isOpen,
    openFiles: filesOnDisk(clock, log),
  })
  undo.defer(() => elsewhere.close())
  const work = createSupervisedWork(
    {
      elsewhere,
      settings,
      store,
      sessionLog,
      processes,
      tokens,
      own,
      workspaces,
      replica,
      clock,
      ids,
      log,
      serverPaths: ownPaths,
      tell: messenger.tell,
      mcpUrl: () => (localAddress === null ? null : `${localAddress}/mcp`),
    },
    undo,
  )
  const mcp = createLaterDoor({
    clients,
    version: parts.version,
    instructions: agentInstructions,
    tools: createAgentTools(elsewhere.service),
    resources:
      settings.supervision.slack.channels.length === 0
        ? []
        : [createRoomResource({ sessions: elsewhere.sessions, messenger })],
    connections: elsewhere.mcpConnections,
    onEnd: elsewhere.sessions.goodbye,
    telemetry,
    clock,
    ids,
    log,
    extension: parts.mcpExtension ?? null,
    limits: usualSessionLimits,
  })
  undo.defer(() => mcp.close())
  return { elsewhere, work, mcp }
}

/** Pushes a nudge through the connection of the agent, if it has one that is open. */
async function pushNudge(
  connections: SharedConnections,
  sessions: Pick<SessionReads, 'get'>,
  { sessionId, message, nudgeCount, idleSeconds, source }: Nudge,
): Promise<string | null> {
  const { connectionId = null, progressSnapshot } = (await sessions.get(sessionId))?.supervision ?? {}
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
