// The service of agents elsewhere on a real SQLite store. The log lives in real time, so whatever needs no time just happens. Everything that
// waits or expires lives in the time of a manual clock.

import { onTestFinished } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { createIds } from '../../domain/ids.ts'
import { type Logger, silentLogger } from '../../domain/logger.ts'
import type { SupervisedRecord } from '../../domain/records/record.ts'
import { ONE_PERSON, type Quorum } from '../../domain/supervision/quorum.ts'
import { noStepUp, type StepUp } from '../../domain/supervision/step-up.ts'
import { createFeed } from '../../engine/feed.ts'
import { createOwnJobs } from '../../engine/sessions/jobs.ts'
import { createSessionLog } from '../../log/session-log.ts'
import { createLocalWake } from '../../log/wake.ts'
import { createManualClock, type ManualClock } from '../../models/testing/manual-clock.ts'
import { createOnlyReplica } from '../../replicas/replica.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import type { Store } from '../../store/store.ts'
import { createAcceptDiff } from '../agent-service/accept-diff.ts'
import type { AgentCall } from '../agent-service/agent-service.ts'
import { createAnswerCall } from '../agent-service/answer-call.ts'
import { createApplyRecovery } from '../agent-service/apply-recovery.ts'
import { createApproveTool, createAskPermission } from '../agent-service/approve-tool.ts'
import { createAskApproval } from '../agent-service/ask-approval.ts'
import { createAskedRecords } from '../agent-service/asked-records.ts'
import { createAutoApproved } from '../agent-service/auto-approved.ts'
import { createJudgeCall } from '../agent-service/judge-call.ts'
import { createCheckAutoApprove, createJudgeWork } from '../agent-service/judge-work.ts'
import { createLookAtPolicy } from '../agent-service/policy-questions.ts'
import { createAnswerAgent } from '../approvals/answer-agent.ts'
import { createCallRules } from '../approvals/call-rules.ts'
import { createApprovals } from '../approvals/create-approvals.ts'
import { createNoteShown } from '../approvals/looked-at.ts'
import { type ChangeWriter, createChangeWriter } from '../diffs/change-writer.ts'
import { proposeChange } from '../diffs/propose-change.ts'
import { createHookService } from '../hooks/create-hook-service.ts'
import { createRealPath } from '../policy/real-path.ts'
import { createPrompts } from '../prompts/create-prompts.ts'
import { createRecords } from '../records/records.ts'
import { createRemembered } from '../remember/remembered.ts'
import { createAssessWork } from '../risk/assess-work.ts'
import { createRecordChanges } from '../sessions/await-record.ts'
import { createSupervisedSessions } from '../sessions/create-supervised-sessions.ts'
import { everybody, type Operators } from '../sessions/may-command.ts'
import type { AgentIdentity, NewSupervised } from '../sessions/supervised-sessions.ts'
import { createTakeStep, type SupervisedSession } from '../sessions/take-step.ts'
import { createWhileWorking } from '../sessions/while-working.ts'
import type { WorkspaceSession } from '../sessions/workspace-session.ts'
import type { Workspaces } from '../workspace/allowed-workspace.ts'
import { createGuardArguments } from '../workspace/guard-arguments.ts'
import { protectedPath } from '../workspace/protected-path.ts'
import type { PolicyLimits } from '../workspace-policy/judge-request.ts'
import { createPolicyWatch } from '../workspace-policy/watch-policy.ts'

export interface SupervisionOptions {
  /** The store of a service that was killed. By default a new one in memory. */
  store?: Store
  clock?: ManualClock
  operators?: Operators
  maxOpen?: number
  agentMaySetMode?: boolean
  /** Told why the server ended a session. */
  onEnd?: (session: SupervisedSession, text: string) => void
  /** By default no stream is open. */
  isConnected?: (connectionId: string) => boolean
  logger?: Logger
  /** By default one that writes real files. */
  writer?: ChangeWriter
  /** The commands of the server's settings. */
  allowlist?: PolicyLimits['allowlist']
  serverPaths?: readonly string[]
  /** By default an agent may work everywhere and report to every channel. */
  workspaces?: Workspaces
  quorum?: Quorum
  /** By default nobody has a passkey. */
  stepUp?: StepUp
  /** Why nobody can be reached. By default somebody always can. */
  trouble?: () => string | null
}

/** Approvals expire after an hour. */
const APPROVAL_MS = 3_600_000

/** Ann owns everything, root is an admin, and eve is another operator. */
export const ann = { user: 'ann', role: 'operator', via: 'ctl', credential: 'token-ann' } as const
export const eve = { user: 'eve', role: 'operator' } as const
export const root = { user: 'root', role: 'operator' } as const

export const everywhere: Workspaces = {
  find: (path) => ({ path, id: null, channelId: null, label: null }),
  checkChannel() {},
}

const testOperators: Operators = {
  ...everybody,
  isAdmin: (name) => name === 'root',
  isKnown: (name) => ['ann', 'eve', 'root'].includes(name),
}

export function openSupervision(options: SupervisionOptions = {}) {
  const clock = options.clock ?? createManualClock()
  const real = createSystemClock()
  const ids = createIds(clock.now)
  const { logger = silentLogger, operators = testOperators } = options
  const maxOpen = { perOwner: options.maxOpen ?? 10, total: null }
  const store = options.store ?? openTestStore()
  const wake = createLocalWake({ clock: real, pollMs: null })
  const log = createSessionLog({ store, clock: real, wake })
  const feed = createFeed({ store: store.feed, wake })
  const changes = createRecordChanges({ feed, clock, logger })
  const shared = { store, log, clock, ids, logger }
  const takeStep = createTakeStep({ ...shared, maxOpen })
  const replica = createOnlyReplica({ shared: createLocalShared(clock), owner: ids.uuid() })
  const jobs = createOwnJobs(clock)
  const sessions = createSupervisedSessions({
    replica,
    ...shared,
    takeStep,
    operators,
    maxOpen,
    agentMaySetMode: options.agentMaySetMode ?? true,
    workspaces: options.workspaces ?? everywhere,
    onMode() {},
    onEnd: (session, text) => options.onEnd?.(session, text),
    isConnected: (connectionId) => options.isConnected?.(connectionId) ?? false,
  })
  const answerCall = createAnswerCall({ sessions, takeStep, store, clock, ids, logger })

  const { quorum = ONE_PERSON, stepUp = noStepUp, serverPaths = [] } = options
  const assess = createAssessWork({ serverPaths, home: '/home/ann' })
  const answerAgent = createAnswerAgent({ store, takeStep, operators, ids, serverPaths, quorum })
  const approvals = createApprovals({
    ...shared,
    operators,
    stepUp,
    answerAgent,
    rules: createCallRules({ grants: store.grants, realPath: createRealPath, clock, assess }),
    agents: [],
    waits: { now: clock.now, answer: noRun, expire: noRun },
  })
  const policies = createPolicyWatch({ clock, log: logger, onChange() {} })
  const writer = options.writer ?? createChangeWriter()
  const workspaceSession: WorkspaceSession = (owner, { path, channelId }) =>
    sessions.ofWorkspace(owner, path, channelId)
  const lookAtPolicy = createLookAtPolicy({ store, takeStep, policies, ids, quorum, workspaceSession })
  const told: string[] = []
  const tell = (_session: SupervisedSession, text: string) => void told.push(text)
  const autoApproved = createAutoApproved({ takeStep, clock, ids, logger, tell() {} })
  const limits = { allowlist: options.allowlist ?? [], protectedBecause: protectedPath }
  const records = createRecords({ waits: store.waits, log })
  const prompts = createPrompts({ records, takeStep, operators })
  const expire = (record: SupervisedRecord) =>
    record.wait === 'approval' ? answerAgent.expire(record) : prompts.expire(record)
  const asked = createAskedRecords({
    store,
    takeStep,
    changes,
    trouble: async () => options.trouble?.() ?? null,
    expire,
    clock,
  })
  const asking = {
    answerCall,
    takeStep,
    store,
    ids,
    autoApproved,
    approvalMs: APPROVAL_MS,
    quorum,
    serverPaths,
    propose: proposeChange,
    asked,
    judge: createJudgeWork({ takeStep, lookAtPolicy, limits, ids, logger, tell }),
    guard: createGuardArguments(serverPaths, '/home/ann'),
    assess,
    remembered: createRemembered({ grants: store.grants, clock }),
  }
  const askPermission = createAskPermission({ ...asking, ...createJudgeCall(asking) })
  const tools = {
    ...createAskApproval(asking),
    ...createAcceptDiff({ ...asking, writer, whileWorking: createWhileWorking({ takeStep, logger }) }),
    ...createApproveTool(askPermission),
    ...createCheckAutoApprove(asking),
  }

  onTestFinished(async () => {
    changes.close()
    policies.close()
    await approvals.close()
    feed.close()
    await log.close()
    if (options.store === undefined) await store.close()
  })

  /** Everything that a part of the service may need. */
  const parts = {
    ...shared,
    feed,
    changes,
    takeStep,
    sessions,
    operators,
    answerCall,
    jobs,
    place: null,
    records,
    prompts,
    asked,
  }

  const hookService = { store, takeStep, askPermission, shared: replica.shared, ids, clock, logger }
  /** The second one is that of another server on the same store. */
  const hookServices = { hooks: createHookService(hookService), otherHooks: createHookService(hookService) }

  return {
    ...parts,
    parts,
    tools,
    approvals,
    answerAgent,
    autoApproved,
    policyFiles: { writer, look: lookAtPolicy, ownerIn: async () => 'ann', session: workspaceSession },
    /** What chat rooms were told. */
    told,
    ...hookServices,
    noteShown: createNoteShown({ waits: store.waits, log, clock }),
    recoverApplies: createApplyRecovery({ store, takeStep, writer, logger, place: null }),
    /** The records of all sessions that want something of a person, newest first. */
    waiting: () => store.waits.list({ isWaiting: true, limit: 100 }),
    /** The next record that waits for a person. */
    async nextWaiting() {
      const [wait] = await eventually(async () => {
        const found = await store.waits.list({ isWaiting: true, limit: 1 })
        return found.length > 0 ? found : null
      })
      if (wait === undefined) throw new Error('nothing waits')
      return wait
    },
    /** Lets this much time pass as soon as somebody waits for time to pass. */
    async passTime(ms: number) {
      await eventually(async () => (clock.pending > 0 ? true : null))
      await clock.advance(ms)
    },
    /** The details of the audit trail, with kind and who, oldest first. */
    async audit() {
      const entries = await store.audit.entries(0, 1_000)
      return entries.map(({ text }) => JSON.parse(text)).map(({ kind, by, details }) => ({ ...details, kind, by }))
    },
    /** What the log of the session shows, as JSON. */
    async events(sessionId: string): Promise<Record<string, unknown>[]> {
      const entries = await store.entries(sessionId, 0, 10_000)
      return entries.map(({ data }) => JSON.parse(data))
    },
  }
}

const noRun = (): never => {
  throw new Error('no run of ours waits here')
}

/** Looks again and again, without a limit of time, because the machine may be busy. */
async function eventually<T>(look: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== null) return found
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

/** An agent of Ann's in this workspace. */
export const agentIn = (workspaceRoot: string, values: Partial<AgentIdentity> = {}): AgentIdentity => ({
  owner: 'ann',
  tokenId: 'token-agent',
  workspaceRoot,
  channelId: null,
  sessionId: null,
  connectionId: 'window-1',
  host: 'claude-code',
  ...values,
})

/** A session that waits for its agent. */
export const newSession = (workspaceRoot: string, values: Partial<NewSupervised> = {}): NewSupervised => ({
  workspaceRoot,
  owner: 'ann',
  host: 'claude',
  prompt: 'Go',
  title: null,
  channelId: null,
  tokenId: 't',
  ...values,
})

/** One call of that agent. */
export const callOf = (agent: AgentIdentity, values: Partial<AgentCall> = {}): AgentCall => ({
  agent,
  signal: new AbortController().signal,
  limitMs: 50_000,
  progress() {},
  ...values,
})
