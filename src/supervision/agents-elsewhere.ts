// Everything that stands behind the doors of agents elsewhere, put together on a store.

import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { OperationalMode } from '../domain/supervision.ts'
import type { SupervisionSettings } from '../domain/supervision-settings.ts'
import type { Feed } from '../engine/feed.ts'
import type { SessionLog } from '../log/session-log.ts'
import type { Store } from '../store/store.ts'
import { type AnswerCall, createAnswerCall } from './desk/answer-call.ts'
import { createAskOperator } from './desk/ask-operator.ts'
import { createReports, type PostLog } from './desk/report.ts'
import { createWaitFor, type WaitFor } from './desk/wait-for.ts'
import { createPrompts } from './prompts/create-prompts.ts'
import type { Prompts } from './prompts/prompts.ts'
import { createRecords, type Records } from './records/records.ts'
import { createRecordChanges } from './sessions/await-record.ts'
import { configuredOperators } from './sessions/configured-operators.ts'
import { createSupervisedSessions } from './sessions/create-supervised-sessions.ts'
import type { Operators } from './sessions/may-command.ts'
import type { SupervisedSessions } from './sessions/supervised-sessions.ts'
import { createTakeStep, type TakeStep } from './sessions/take-step.ts'
import { createStalls } from './stalls/create-stalls.ts'
import type { PushNudge, Stalls } from './stalls/stalls.ts'

export interface AgentsElsewhere {
  sessions: SupervisedSessions
  records: Records
  prompts: Prompts
  stalls: Stalls
  operators: Operators
  takeStep: TakeStep
  answerCall: AnswerCall
  waitFor: WaitFor
  /** The tools that tell and ask. Those about approvals are made apart. */
  reports: ReturnType<typeof createReports> & ReturnType<typeof createAskOperator>
  close(): Promise<void>
}

interface ElsewhereDeps {
  store: Store
  log: SessionLog
  feed: Feed
  clock: Clock
  ids: Ids
  logger: Logger
  settings: Pick<SupervisionSettings, 'operators' | 'maxConcurrentSessions' | 'timeouts' | 'stall' | 'modes'>
  push: PushNudge
  postLog: PostLog | null
  explainMode: (mode: OperationalMode) => string | null
}

export function createAgentsElsewhere(deps: ElsewhereDeps): AgentsElsewhere {
  const { store, log, feed, clock, ids, logger, settings, push, postLog, explainMode } = deps
  const maxOpen = settings.maxConcurrentSessions
  const shared = { store, log, clock, ids, logger }
  const operators = configuredOperators(settings.operators)
  const takeStep = createTakeStep({ ...shared, maxOpen })
  const changes = createRecordChanges({ feed, clock, logger })
  const waitFor = createWaitFor({ changes, clock })
  const agentMaySetMode = settings.modes.agentMaySet
  const sessions = createSupervisedSessions({ ...shared, takeStep, operators, maxOpen, agentMaySetMode })
  const records = createRecords({ waits: store.waits, log })
  const prompts = createPrompts({ records, takeStep, operators })
  const { enabled, inactivityMs, escalationMs, maxRetries, nudgeMessage } = settings.stall
  const stalls = createStalls({
    ...shared,
    takeStep,
    records,
    operators,
    push,
    settings: { enabled, inactivityMs, escalationMs, maxRetries, defaultMessage: nudgeMessage },
  })
  const answerCall = createAnswerCall({ ...shared, sessions, takeStep })
  const { promptMs, waitMs } = settings.timeouts
  const timeouts = { promptSeconds: promptMs / 1_000, waitSeconds: (waitMs ?? 0) / 1_000 }
  const desk = { ...shared, answerCall, takeStep, waitFor, prompts, sessions, timeouts }
  return {
    sessions,
    records,
    prompts,
    stalls,
    operators,
    takeStep,
    answerCall,
    waitFor,
    reports: {
      ...createAskOperator(desk),
      ...createReports({ ...desk, stallsEnabled: enabled, postLog, explainMode }),
    },
    async close() {
      changes.close()
      await stalls.close()
    },
  }
}
