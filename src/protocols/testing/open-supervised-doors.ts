// The management routes of agents elsewhere, with agents that call the real service. The log lives in real time; what waits or expires
// lives in the time of a manual clock that can leap.

import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startedAgents } from '../../config/agent/started-agents.ts'
import { agentDefaults } from '../../config/source/load-context.ts'
import { createSystemClock } from '../../domain/clock.ts'
import { silentLogger } from '../../domain/logger.ts'
import type { SupervisionSettings } from '../../domain/settings/supervision-settings.ts'
import { ONE_PERSON } from '../../domain/supervision/quorum.ts'
import { noStepUp } from '../../domain/supervision/step-up.ts'
import { testOperator } from '../../domain/testing/test-operator.ts'
import type { Engine } from '../../engine/engine.ts'
import { createOwnJobs } from '../../engine/sessions/jobs.ts'
import type { openEngine, TestEngineOptions } from '../../engine/testing/open-engine.ts'
import { createOnlyReplica, type Replica } from '../../replicas/replica.ts'
import { createLocalShared } from '../../store/local-shared.ts'
import { openTestStore } from '../../store/sqlite/testing/open-test-store.ts'
import { type AgentsElsewhere, createAgentsElsewhere, filesOnDisk } from '../../supervision/agents-elsewhere.ts'
import type { Approvals } from '../../supervision/approvals/approvals.ts'
import { createCallRules } from '../../supervision/approvals/call-rules.ts'
import { createApprovals } from '../../supervision/approvals/create-approvals.ts'
import { createNoteShown, createRevealSecret } from '../../supervision/approvals/looked-at.ts'
import { createReadDiff } from '../../supervision/approvals/read-diff.ts'
import { createCheckpoints } from '../../supervision/checkpoints/create-checkpoints.ts'
import { createSessionCheckpoints } from '../../supervision/checkpoints/session-checkpoints.ts'
import { createSessionCommands } from '../../supervision/commands/session-commands.ts'
import { createRealPath } from '../../supervision/policy/real-path.ts'
import { createAnswerRecord } from '../../supervision/records/answer-record.ts'
import { createReadScenes } from '../../supervision/records/record-scenes.ts'
import { createAssessWork } from '../../supervision/risk/assess-work.ts'
import { configuredOperators } from '../../supervision/sessions/may-command.ts'
import { createPurgeSupervised } from '../../supervision/sessions/purge-supervised.ts'
import { createSpawner } from '../../supervision/spawn/create-spawner.ts'
import { createLacks } from '../../supervision/spawn/lacks.ts'
import type { Nudge } from '../../supervision/stalls/stalls.ts'
import { noMessenger } from '../../supervision/testing/no-messenger.ts'
import { agentIn, callOf, everywhere } from '../../supervision/testing/open-supervision.ts'
import { createProcessGroups } from '../../tools/process/process-groups.ts'
import { createAgentRoutes } from '../agent/routes.ts'
import { createChatRoutes } from '../chat/routes.ts'
import { createApprovalRoutes } from '../manage/approvals/routes.ts'
import { createSupervisionRoutes } from '../manage/supervision/routes.ts'
import { openDoors } from './open-doors.ts'

const settings: SupervisionSettings = {
  defaultWorkspaceRoot: null,
  workspaces: [],
  operatorGroups: [],
  escalation: [],
  quorum: ONE_PERSON,
  hostCli: null,
  hostCliArgs: [],
  commands: {},
  slack: { channelId: null, channels: [] },
  ipcName: null,
  operators: [
    { name: 'operator', admin: true },
    { name: 'eve', admin: false },
    { name: 'grace', admin: false },
    // They own the tokens of the agents in `open-mcp-door.ts`.
    { name: 'ada', admin: false },
    { name: 'bob', admin: false },
  ].map(testOperator),
  maxConcurrentSessions: 100,
  maxConcurrentSessionsTotal: null,
  timeouts: { approvalMs: 3_600_000, promptMs: 1_800_000, waitMs: null },
  stall: { enabled: true, inactivityMs: 300_000, escalationMs: 120_000, maxRetries: 3, nudgeMessage: 'Go on.' },
  modes: { agentMaySet: true },
}

type WorkDeps = Pick<ReturnType<typeof openEngine>, 'store' | 'log' | 'clock' | 'ids'> & Pick<Engine, 'runs'>

function workOf(elsewhere: AgentsElsewhere, { store, log, clock, ids, runs }: WorkDeps) {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-checkpoints-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const processes = createProcessGroups({ clock, process: new EventEmitter() })
  const shared = { ...elsewhere, store, clock, ids, processes, logger: silentLogger }
  const environment = { PATH: '/usr/bin:/bin' }
  const echo = { alias: 'echo', argv: ['sh', '-c', 'echo hello; echo oops >&2; exit 3'], program: '/bin/sh' }
  return {
    checkpoints: createSessionCheckpoints({
      ...shared,
      jobs: createCheckpoints({ folder, excluded: [], isProtected: () => false }),
    }),
    commands: createSessionCommands({ ...shared, commands: new Map([['echo', echo]]), environment }),
    spawner: createSpawner({
      ...shared,
      agents: startedAgents({ hostCli: null, hostCliArgs: [] }, agentDefaults),
      usual: null,
      lacks: createLacks({ search: { searchPath: '/nowhere', workspaces: [] }, sandbox: async () => null }),
      findWorkspace: (path) => ({ path, id: null, channelId: null, label: null }),
      runs,
    }),
    purge: createPurgeSupervised({ store, log, clock, retentionDays: 30 }),
    startable: async () => ({ hosts: [], workspaces: [], root: null }),
  }
}

/** Agents belong to `local_user`, whose operator is `asOperator`. Ends with `await using`. */
export async function openSupervisedDoors(
  options: TestEngineOptions & { replica?: Replica; isConnected?: (connectionId: string) => boolean } = {},
) {
  let leap = 0
  const real = createSystemClock()
  const clock = { ...real, now: () => real.now() + leap, mono: () => real.mono() + leap }
  const nudges: Nudge[] = []
  const told: string[][] = []
  const store = options.store ?? openTestStore(options.path)
  const made: { elsewhere?: AgentsElsewhere; approvals?: Approvals } = {}
  const doors = await openDoors(
    { clock, store, ...options },
    ({ engine, oversight, readCosts, feed, log, ids, attachments }) => {
      const note = ({ id }: { id: string }, text: string) => void told.push([id, text])
      const elsewhere = createAgentsElsewhere({
        ...{ store, log, feed, clock, ids, settings, logger: silentLogger },
        operators: configuredOperators(settings.operators, settings.escalation, settings.operatorGroups),
        workspaces: everywhere,
        serverPaths: [],
        replica: options.replica ?? createOnlyReplica({ shared: createLocalShared(clock), owner: ids.uuid() }),
        jobs: createOwnJobs(clock),
        messenger: { ...noMessenger, tell: note, tellNow: note },
        isConnected: (connectionId) => options.isConnected?.(connectionId) ?? false,
        openFiles: filesOnDisk(clock, silentLogger),
        push: async (nudge) => {
          nudges.push(nudge)
          return null
        },
      })
      made.elsewhere = elsewhere
      const approvals = createApprovals({
        ...{ store, log, clock, ids, logger: silentLogger, stepUp: noStepUp },
        ...{ operators: elsewhere.operators, answerAgent: elsewhere.answerAgent },
        rules: createCallRules({
          grants: store.grants,
          realPath: createRealPath,
          clock,
          assess: createAssessWork({ serverPaths: [], home: '/home/ann' }),
        }),
        agents: [],
        waits: engine.waits,
      })
      made.approvals = approvals
      const readScenes = createReadScenes({ store, clock })
      return [
        ...createApprovalRoutes({
          engine,
          approvals,
          readScenes,
          readDiff: createReadDiff(store),
          noteShown: createNoteShown({ waits: store.waits, log, clock }),
          revealSecret: createRevealSecret({ waits: store.waits, log, clock }),
        }),
        ...createSupervisionRoutes({
          ...elsewhere,
          readScenes,
          answer: createAnswerRecord({ approvals, prompts: elsewhere.prompts, stalls: elsewhere.stalls }),
          ...workOf(elsewhere, { store, log, clock, ids, runs: engine.runs }),
          oversight,
        }),
        ...createChatRoutes({ engine, oversight, readCosts, clock, ids }),
        ...createAgentRoutes({ engine, clock, ids, attachments }),
      ]
    },
  )
  const { elsewhere, approvals } = made
  if (elsewhere === undefined || approvals === undefined) throw new Error('the routes were not made')

  const agent = agentIn('/srv/shop', { owner: 'local_user' })
  return {
    ...doors,
    elsewhere,
    approvals,
    nudges,
    /** What the chat rooms of sessions were told. */
    told,
    /** Lets this much time pass. */
    wait: (ms: number) => {
      leap += ms
    },
    /** An agent that calls for the first time: its session. */
    async open(values: Partial<typeof agent> = {}) {
      return elsewhere.sessions.attach({ ...agent, ...values })
    },
    /** The agent forwards a prompt. Gives its id, and later its answer. */
    async ask(text = 'Shall I go on?', values: Partial<typeof agent> = {}) {
      const answer = elsewhere.service.forward_prompt(callOf({ ...agent, ...values }), { prompt_text: text })
      return { id: await waiting(text), answer }
    },
    async standBy(message = 'What next?', values: Partial<typeof agent> = {}) {
      const answer = elsewhere.service.wait_for_instruction(callOf({ ...agent, ...values }), { message })
      return { id: await waiting(message), answer }
    },
    /** The agent asks to write a whole file. Gives the approval's id, and later the answer. */
    async askToWrite(root: string, file_path: string, diff: string, values: Partial<typeof agent> = {}) {
      const asking = { title: 'A change', file_path, diff }
      const answer = elsewhere.service.ask_approval(callOf({ ...agent, workspaceRoot: root, ...values }), asking)
      for (;;) {
        const [asked] = await store.waits.list({ wait: 'approval', isWaiting: true, limit: 1 })
        if (asked !== undefined) return { id: asked.id, answer }
        await new Promise<void>((resolve) => void setImmediate(resolve))
      }
    },
    heartbeat: (values: Partial<typeof agent> = {}) =>
      elsewhere.service.heartbeat(callOf({ ...agent, ...values }), { status_message: 'Working.' }),
    /** The agent is silent until somebody notices. Gives the id of the alert. */
    async stall() {
      leap += 301_000
      await elsewhere.stalls.sweep()
      const [alert] = await store.waits.list({ wait: 'alert', isWaiting: true, limit: 1 })
      return alert?.id ?? ''
    },
    [Symbol.asyncDispose]: async () => {
      await elsewhere.close()
      await doors[Symbol.asyncDispose]()
    },
  }

  async function waiting(text: string): Promise<string> {
    for (;;) {
      const found = await store.waits.list({ isWaiting: true, limit: 100 })
      const asked = found.find(
        (one) => (one.wait === 'prompt' && one.promptText === text) || (one.wait === 'standby' && one.message === text),
      )
      if (asked !== undefined) return asked.id
      await new Promise<void>((resolve) => void setImmediate(resolve))
    }
  }
}
