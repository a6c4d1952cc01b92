// Everything that stands behind the doors of agents elsewhere, put together on a store.

import { homedir } from 'node:os'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { SupervisedRecord } from '../domain/records/record.ts'
import { LOCAL_USER } from '../domain/session/session.ts'
import type { SupervisionSettings } from '../domain/settings/supervision-settings.ts'
import { openStatuses } from '../domain/supervision/supervision.ts'
import type { Feed } from '../engine/feed.ts'
import type { Jobs } from '../engine/sessions/jobs.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Replica } from '../replicas/replica.ts'
import type { Store } from '../store/store.ts'
import { createAcceptDiff } from './agent-service/accept-diff.ts'
import type { AgentService } from './agent-service/agent-service.ts'
import { createAnswerCall } from './agent-service/answer-call.ts'
import { createApplyRecovery } from './agent-service/apply-recovery.ts'
import { createApproveTool, createAskPermission } from './agent-service/approve-tool.ts'
import { createAskApproval } from './agent-service/ask-approval.ts'
import { createAskOperator } from './agent-service/ask-operator.ts'
import { createAskedRecords } from './agent-service/asked-records.ts'
import { createAutoApproved } from './agent-service/auto-approved.ts'
import { workspacePath } from './agent-service/host-tools.ts'
import { createJudgeCall } from './agent-service/judge-call.ts'
import { createCheckAutoApprove, createJudgeWork } from './agent-service/judge-work.ts'
import { createLookAtPolicy } from './agent-service/policy-questions.ts'
import { createRecoverState } from './agent-service/recover-state.ts'
import { createReports } from './agent-service/report.ts'
import { createAnswerAgent } from './approvals/answer-agent.ts'
import { type ChangeWriter, createChangeWriter } from './diffs/change-writer.ts'
import { proposeChange } from './diffs/propose-change.ts'
import { createHookService } from './hooks/create-hook-service.ts'
import type { Messenger } from './messenger.ts'
import { createPrompts } from './prompts/create-prompts.ts'
import { createNoteEscalations } from './records/note-escalations.ts'
import { createRecords } from './records/records.ts'
import { createRemembered } from './remember/remembered.ts'
import { createLaterAssessWork } from './risk/later-assess-work.ts'
import { createRecordChanges } from './sessions/await-record.ts'
import { createSupervisedSessions } from './sessions/create-supervised-sessions.ts'
import type { Operators } from './sessions/may-command.ts'
import { createMcpConnections } from './sessions/mcp-connections.ts'
import { createTakeStep, isSupervisedSession } from './sessions/take-step.ts'
import { createWhileWorking } from './sessions/while-working.ts'
import type { WorkspaceSession } from './sessions/workspace-session.ts'
import { createStalls } from './stalls/create-stalls.ts'
import type { PushNudge } from './stalls/stalls.ts'
import type { Workspaces } from './workspace/allowed-workspace.ts'
import { createGuardArguments } from './workspace/guard-arguments.ts'
import { createDraftFromHistory } from './workspace-policy/draft-policy.ts'
import { allowlistOf, protectedByPath } from './workspace-policy/judge-request.ts'
import { createTryRequest } from './workspace-policy/try-request.ts'
import { createPolicyWatch, type PolicyWatch } from './workspace-policy/watch-policy.ts'

interface ElsewhereDeps {
  store: Store
  log: SessionLog
  feed: Feed
  clock: Clock
  ids: Ids
  logger: Logger
  settings: SupervisionSettings
  /** The people of these settings. Whoever else decides about approvals needs the same. */
  operators: Operators
  workspaces: Workspaces
  /** See `createServerPlaces`. A change of one of them is critical. */
  serverPaths: readonly string[]
  push: PushNudge
  /** Whether a stream of this connection is open. */
  isConnected: (connectionId: string) => boolean
  messenger: Messenger
  jobs: Jobs
  /** This process among those on the store. */
  replica: Replica
  /** Opens the files of the workspaces. It is told of each policy file that changes. */
  openFiles: (onPolicyChange: (path: string) => void) => WorkspaceFiles
}

interface WorkspaceFiles {
  propose: typeof proposeChange
  writer: ChangeWriter
  policies: Pick<PolicyWatch, 'effective' | 'watch' | 'close'>
}

/** The files on the disk. */
export const filesOnDisk =
  (clock: Clock, log: Logger): ElsewhereDeps['openFiles'] =>
  (onChange) => ({
    propose: proposeChange,
    writer: createChangeWriter(),
    policies: createPolicyWatch({ clock, log, onChange }),
  })

const MOST_TOLD = 100
/** Requests that a draft of a policy looks at, while others wait. */
const MOST_IN_DRAFT = 5_000
const STOPS = 'The server is stopping. What waits here stays, and can be answered when the server runs again.'

export type AgentsElsewhere = ReturnType<typeof createAgentsElsewhere>

export function createAgentsElsewhere(deps: ElsewhereDeps) {
  const { store, log, feed, clock, ids, logger, settings, workspaces, serverPaths, push, messenger } = deps
  const { operators, isConnected, jobs, replica } = deps
  const { quorum } = settings
  const maxOpen = { perOwner: settings.maxConcurrentSessions, total: settings.maxConcurrentSessionsTotal }
  const shared = { store, log, clock, ids, logger }
  const takeStep = createTakeStep({ ...shared, maxOpen })
  const changes = createRecordChanges({ feed, clock, logger })
  const sessions = createSupervisedSessions({
    ...shared,
    replica,
    takeStep,
    operators,
    workspaces,
    maxOpen,
    agentMaySetMode: settings.modes.agentMaySet,
    isConnected,
    onMode: messenger.modeChanged,
    onEnd: messenger.tell,
  })
  const records = createRecords({ waits: store.waits, log })
  const prompts = createPrompts({ records, takeStep, operators })
  const stalls = createStalls({
    ...shared,
    takeStep,
    records,
    operators,
    push,
    jobs,
    settings: settings.stall,
  })
  const noteEscalations = createNoteEscalations({
    ...shared,
    takeStep,
    operators,
    escalation: settings.escalation,
  })
  const answerCall = createAnswerCall({ ...shared, sessions, takeStep })
  const whileWorking = createWhileWorking({ takeStep, logger })
  const answerAgent = createAnswerAgent({ store, takeStep, operators, ids, serverPaths, quorum })
  const { propose, writer, policies } = deps.openFiles((path) => void policyChanged(path))
  const workspaceSession: WorkspaceSession = (owner, { path, channelId }) =>
    sessions.ofWorkspace(owner, path, channelId)
  const lookAtPolicy = createLookAtPolicy({ store, takeStep, policies, ids, quorum, workspaceSession })

  /** A policy file was changed while no agent asked. */
  async function policyChanged(path: string): Promise<void> {
    try {
      const { channelId } = workspaces.find(path)
      const owner = await ownerIn(path)
      const effective = await lookAtPolicy({ path, channelId }, owner)
      if (effective.state === 'unreadable') messenger.tell(await sessions.ofWorkspace(owner, path), effective.warning)
    } catch (error) {
      logger.warn('the policy of a workspace could not be looked at', { workspace: path, error })
    }
  }

  /** Who is asked where no agent asks: whose agent worked there last, else an admin. */
  async function ownerIn(workspaceRoot: string): Promise<string> {
    const [last] = await store.supervised.sessions({ workspaceRoot, limit: 1 })
    if (last !== undefined && operators.isKnown(last.owner)) return last.owner
    const people = settings.operators
    return (people.find(({ admin }) => admin) ?? people[0])?.name ?? LOCAL_USER
  }
  const autoApproved = createAutoApproved({ takeStep, clock, ids, logger, tell: messenger.tell })
  const { approvalMs, promptMs, waitMs } = settings.timeouts
  const limits = { allowlist: allowlistOf(settings.commands), protectedBecause: protectedByPath }
  const home = homedir()
  const guard = createGuardArguments(serverPaths, home)
  const expire = (record: SupervisedRecord) =>
    record.wait === 'approval' ? answerAgent.expire(record) : prompts.expire(record)

  async function trouble(sessionId: string): Promise<string | null> {
    // Every agent that waits asks this again and again.
    if (!messenger.isTroubled()) return null
    const session = await store.sessions.get(sessionId)
    return isSupervisedSession(session) ? messenger.trouble(session) : null
  }

  const asking = {
    ...shared,
    guard,
    assess: createLaterAssessWork({ serverPaths, home }),
    remembered: createRemembered({ grants: store.grants, clock }),
    answerCall,
    takeStep,
    sessions,
    autoApproved,
    serverPaths,
    approvalMs,
    quorum,
    propose,
    asked: createAskedRecords({ ...shared, takeStep, changes, trouble, expire }),
    judge: createJudgeWork({ takeStep, lookAtPolicy, limits, ids, logger, tell: messenger.tell }),
    timeouts: { promptSeconds: promptMs / 1_000, waitSeconds: (waitMs ?? 0) / 1_000 },
  }
  const judgesCalls = createJudgeCall(asking)
  const askPermission = createAskPermission({ ...asking, ...judgesCalls })
  const recoverApplies = createApplyRecovery({ store, takeStep, writer, logger, place: replica.place })
  /** What the MCP door's tools call. */
  const service: AgentService = {
    ...createAskApproval(asking),
    ...createAcceptDiff({ ...asking, writer, whileWorking }),
    ...createApproveTool(askPermission),
    ...createCheckAutoApprove(asking),
    ...createAskOperator(asking),
    ...createRecoverState(asking),
    ...createReports({ ...asking, stallsEnabled: settings.stall.enabled, messenger }),
  }
  return {
    /** What the work of hosted agents shares with agents elsewhere. */
    hosting: { ...asking, ...judgesCalls, writer },
    sessions,
    records,
    prompts,
    stalls,
    operators,
    takeStep,
    changes,
    whileWorking,
    /** Delivers decisions about what they ask. `Approvals` uses it. */
    answerAgent,
    /** Connections of MCP clients that outlive a restart. */
    mcpConnections: createMcpConnections({ ...shared, takeStep, replica }),
    service,
    /** What the policy of a workspace says about a request. */
    tryRequest: createTryRequest({ store, policies, limits, guard, confined: workspacePath }),
    /** A policy from what people decided about the agents of a workspace. */
    draftPolicy: createDraftFromHistory({
      reads: store,
      limits,
      most: MOST_IN_DRAFT,
      pause: () => new Promise((resolve) => clock.soon(resolve)),
    }),
    policyFiles: { writer, look: lookAtPolicy, ownerIn, session: workspaceSession },
    /** What the hooks of hosts call. */
    hooks: createHookService({ store, takeStep, askPermission, shared: replica.shared, ids, clock, logger }),
    /** Ends what nobody answered in time. */
    expire,
    /** Called every few seconds: ends sessions whose agent is gone, and puts on record who is asked by now. */
    async sweep(): Promise<void> {
      await sessions.sweep()
      await noteEscalations()
    },
    /** Tells the chat rooms of all open sessions that the server stops. */
    async tellStop(): Promise<void> {
      const open = await sessions.list({ statuses: openStatuses, limit: MOST_TOLD })
      for (const session of open) messenger.tellNow(session, STOPS)
    },
    /** After a start: finishes what a killed process had begun to write, and begins to watch for silence. */
    async recover(): Promise<void> {
      for (const { path } of settings.workspaces.map((one) => workspaces.find(one.path))) {
        policies.watch(path)
        await policyChanged(path)
      }
      await recoverApplies()
      stalls.start()
    },
    async close(): Promise<void> {
      changes.close()
      policies.close()
      await autoApproved.close()
      await stalls.close()
    },
  }
}
