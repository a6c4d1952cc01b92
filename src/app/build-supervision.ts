// Supervision: approvals, agents elsewhere, what the server does for them on this machine, and the MCP door that they come through.

import { createLaterDoor, usualSessionLimits } from '../protocols/mcp/later-door.ts'
import { createOpenClients } from '../protocols/mcp/open-clients.ts'
import { type SharedConnections, shareConnections } from '../protocols/mcp/share-connections.ts'
import type { SessionReads } from '../store/ports/sessions.ts'
import { createAgentsElsewhere, filesOnDisk } from '../supervision/agents-elsewhere.ts'
import { createLaterHostWork } from '../supervision/hosted/later-host-work.ts'
import type { SupervisedSession } from '../supervision/sessions/take-step.ts'
import type { Nudge } from '../supervision/stalls/stalls.ts'
import { NUDGES_ITSELF } from '../supervision/stalls/stalls.ts'
import { createSupervisedWork } from './create-supervised-work.ts'
import type { Telling } from './open-outbox.ts'
import { serverPaths } from './server-paths.ts'

/** More than a server ever has at one time. */
const MOST_OPEN = 10_000
const isHostedSession = ({ supervision }: SupervisedSession): boolean => supervision.hosted !== undefined

/** What is opened here is closed by `undo`. */
export function buildSupervision(parts: Telling, undo: AsyncDisposableStack) {
  const hosted = createLaterHostWork(
    () => work.loadHostWork(),
    async () => (await elsewhere.sessions.list({ statuses: ['active'], limit: MOST_OPEN })).some(isHostedSession),
  )
  const { settings, store, sessionLog, feed, messenger, workspaces, replica } = parts
  const { telemetry, clock, ids, log } = parts
  const ownPaths = serverPaths(parts)
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
    push: async (nudge) =>
      hosted.nudge(nudge.sessionId, nudge.message, nudge.source !== NUDGES_ITSELF)
        ? 'a new prompt'
        : pushNudge(connections, store.sessions, nudge),
    messenger,
    isConnected: connections.isOpen,
    openFiles: filesOnDisk(clock, log),
  })
  undo.defer(() => elsewhere.close())
  const work = createSupervisedWork(
    {
      ...parts,
      elsewhere,
      serverPaths: ownPaths,
    },
    undo,
  )
  const mcp = createLaterDoor(async () => {
    const [{ agentInstructions, createAgentTools }, { createRoomResource }] = await Promise.all([
      import('../protocols/mcp/agent-tools.ts'),
      import('../protocols/mcp/room-resource.ts'),
    ])
    const hasRooms = settings.supervision.slack.channels.length > 0
    return {
      clients,
      version: parts.version,
      instructions: agentInstructions,
      tools: createAgentTools(elsewhere.service),
      resources: hasRooms ? [createRoomResource({ sessions: elsewhere.sessions, messenger })] : [],
      connections: elsewhere.mcpConnections,
      onEnd: elsewhere.sessions.goodbye,
      telemetry,
      clock,
      ids,
      log,
      extension: parts.mcpExtension,
      limits: usualSessionLimits,
    }
  })
  undo.defer(() => mcp.close())
  undo.defer(() => hosted.close())
  return { elsewhere, work, mcp, hosted }
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
