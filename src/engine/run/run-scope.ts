// What all parts of one run share while it executes.

import type { AgentDefinition } from '../../domain/agent.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Ids } from '../../domain/ids.ts'
import type { Logger } from '../../domain/logger.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { Wait } from '../../domain/wait.ts'
import type { Model } from '../../models/model.ts'
import type { Store } from '../../store/store.ts'
import type { Toolbox } from '../../tools/tool.ts'
import type { RunFiles } from '../files/run-files.ts'
import type { Files } from '../files-port.ts'
import type { Gate } from '../gate.ts'
import type { Budget } from './budget.ts'
import type { createTokenCorrection } from './context-window.ts'
import type { PriceList } from './prices.ts'
import type { Pen, RunWriter } from './run-writer.ts'
import type { SharedState } from './shared-state.ts'
import type { UsageMeter } from './usage.ts'

export interface AgentParts {
  definition: AgentDefinition
  model: Model
  toolbox: Toolbox
  correction: ReturnType<typeof createTokenCorrection>
}

export interface ExecuteDeps {
  store: Pick<Store, 'entries' | 'messages' | 'runs' | 'waits' | 'files'>
  clock: Clock
  ids: Ids
  /** Of the run: its lines have the run's ids. */
  log: Logger
  gate: Gate
  agents: ReadonlyMap<string, AgentParts>
  prices: PriceList
  /** Null: this server keeps no files. */
  fileSource: Files | null
}

export interface RunScope extends ExecuteDeps {
  run: RunRecord
  session: SessionRecord
  /** The session's own agent; its limits are the run's. */
  root: AgentParts
  writer: RunWriter
  signal: AbortSignal
  budget: Budget
  usage: UsageMeter
  state: SharedState
  files: RunFiles | null
  /** The names of what has been called. */
  called: string[]
  /** Calls that had begun before a crash and may be begun again, each with what its tool was made of then. */
  begun: ReadonlyMap<string, string | undefined>
  /** Steps that the run had finished before a crash. */
  stepsDone: number
  /** The last answer may have calls that are to be carried out. False: the model is next. */
  isContinued: boolean
}

/** One conversation inside the run: the session's own, or a sub-agent's. */
export interface Lane {
  /** The id of the call that a sub-agent works for; null: the session's own conversation. */
  id: string | null
  /** What events of a sub-agent carry. A new one each time it goes on, as the protocol wants. */
  subagentRunId: string | null
  pen: Pen
  /** How many agents are above it. */
  depth: number
}

/** Something the run has to wait for. */
export interface Pending {
  wait: Wait
  isNew: boolean
  subagentRunId: string | null
}
