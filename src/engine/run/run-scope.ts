// What the parts of a run share while it executes.

import { answersWith, type HostAgent, type ModelAgent, modelName } from '../../domain/agent/agent.ts'
import type { ErrorCode } from '../../domain/errors.ts'
import type { Logger } from '../../domain/logger.ts'
import type { AnyRecord, WaitAnswer } from '../../domain/records/record.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { KeptSummary } from '../../domain/session/summary.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import type { AgentSpan, AgentStarted } from '../../domain/telemetry.ts'
import type { Model } from '../../models/model.ts'
import type { Toolbox } from '../../tools/tool.ts'
import type { SessionNumbers } from '../citations/passage-numbers.ts'
import type { EngineParts } from '../create-engine.ts'
import type { RunFiles } from '../files/run-files.ts'
import type { Files } from '../files-port.ts'
import type { AgentVersions } from '../loop/agent-version.ts'
import type { Budget, PriceList, UsageMeter } from '../loop/budget.ts'
import { createTokenCorrection } from '../loop/context-window.ts'
import type { SharedState } from '../loop/shared-state.ts'
import type { Long, Summaries } from '../loop/summaries/summaries.ts'
import type { Memories } from '../memories/memories.ts'
import type { HostWork } from '../ports/host-work.ts'
import type { EventWriter, RunWriter } from './run-writer.ts'

export type AgentParts = ModelParts | HostParts

/** An agent with a model: `agent-loop.ts` does its work. */
export interface ModelParts {
  definition: ModelAgent
  host: null
  model: Model
  /** Models that a run may try in its place, by `provider/model`. */
  tried: ReadonlyMap<string, Model>
  /** Makes summaries of long conversations. Null: the agent's own model does. */
  summarizer: Model | null
  toolbox: Toolbox
  correction: ReturnType<typeof createTokenCorrection>
}

/** An agent in the program of a coding agent, which does the work in its own loop. */
export interface HostParts {
  definition: HostAgent
  host: HostWork
  /** Empty: the program has tools of its own. */
  toolbox: Toolbox
}

/** The agent with the model that a run tries; the agent itself if it tries none. Null: this server does not know that model. */
export function withTriedModel(agent: AgentParts, name: string | undefined): AgentParts | null {
  if (name === undefined) return agent
  if (agent.host !== null) return null
  const settings = agent.definition.tried?.find((one) => modelName(one) === name)
  const model = agent.tried.get(name)
  if (settings === undefined || model === undefined) return null
  return { ...agent, definition: { ...agent.definition, model: settings }, model, correction: createTokenCorrection() }
}

export const searchesDocuments = ({ definition }: AgentParts): boolean =>
  definition.tools.some(({ type }) => type === 'knowledge')

/** Whether its answers may cite documents: those of its own, of an agent that it calls, or of whoever had the conversation before. */
export const mayCite = ({ passages, agents }: RunScope, agent: AgentParts): boolean =>
  passages.numbers !== null ||
  searchesDocuments(agent) ||
  agent.definition.tools.some((tool) => {
    const called = tool.type === 'agent' ? agents.get(tool.agent) : undefined
    return called !== undefined && searchesDocuments(called)
  })

export interface ExecuteDeps extends Pick<EngineParts, 'agents' | 'store' | 'clock' | 'ids' | 'telemetry' | 'gate'> {
  /** The logger of this run: its lines carry the run's ids. */
  log: Logger
  /** Answers waits of this run while it executes. */
  settle(answers: readonly WaitAnswer[]): Promise<void>
  prices: PriceList
  versions: AgentVersions
  summaries: Summaries
  memories: Memories
  /** Null: this server does not keep files. */
  fileSource: Files | null
}

/** What is known of the older part of the conversation. */
export interface Older {
  /** What stands for it in this run's requests. Null: nothing; undefined: nobody has looked. */
  summary: KeptSummary | null | undefined
  /** The last request was so long that a summary should be made when the run has ended. */
  long: Pick<Long, 'agent' | 'room'> | null
}

export interface RunScope extends ExecuteDeps {
  run: RunRecord
  session: SessionRecord
  /** The agent of the session. Its limits are the limits of the run. */
  root: AgentParts
  writer: RunWriter
  signal: AbortSignal
  budget: Budget
  usage: UsageMeter
  state: SharedState
  files: RunFiles | null
  older: Older
  /** What the conversation knows of documents. Null: nobody in this run has needed it, and nothing was read. */
  passages: { numbers: Promise<SessionNumbers> | null }
  /** Names of the tools that were called, in order. */
  called: string[]
  /** Calls that began before a crash and may be repeated, each with the binding that its tool had then. */
  begun: ReadonlyMap<string, string | undefined>
  /** The audit records of calls with side effects that have begun and have no result, as they are if the run is stopped now. */
  inFlight: Map<string, AuditRecord>
  /** Questions of calls that this run has suspended and has not stored, because it went on at once. By call. */
  unstored: ReadonlyMap<string, AnyRecord>
  /** How many steps the run had finished before a crash. */
  stepsDone: number
  /** Called between two steps, where nothing is open. Throws if the run is to be given back now. */
  betweenSteps(): void
  /** The last answer may have calls that still have to be made. False: the model is next. */
  isContinued: boolean
}

/** One conversation inside the run: the session's own, or a sub-agent's. */
export interface Lane<Agent extends AgentParts = ModelParts> {
  scope: RunScope
  /** The agent that has the conversation now. */
  agent: Agent
  /** The limits of this conversation. */
  budget: Budget
  /** Id of the call that the sub-agent works for. Null: the session's own conversation. */
  id: string | null
  /** The id on the events of a sub-agent. The protocol wants a new one each time the sub-agent goes on. */
  subagentRunId: string | null
  writer: EventWriter
  span: AgentSpan
  /** How many agents are above this one. */
  depth: number
}

/** Something that the run has to wait for. */
export interface Pending {
  wait: AnyRecord
  isNew: boolean
  subagentRunId: string | null
}

/** Another process has what the run needs, such as the program of its agent. Throw it to give the run back. */
export class LeftToAnother extends Error {}

/** Why a run was told to stop. It is the reason of the run's abort signal. */
export type Stop =
  | { kind: 'cancelled'; by: string }
  /** A limit was reached, or the server could not go on. The run ends with RUN_ERROR. */
  | { kind: 'failed'; code: ErrorCode; message: string; isFinal?: true | undefined }
  /** The server is stopping. The run is given back as it is, and goes on later. */
  | { kind: 'suspended' }
  /** Another process has taken the run over. Nothing more of it may happen here. */
  | { kind: 'lost' }

/** A stop that ends the run. The others leave it to another process. */
export type EndingStop = Exclude<Stop, { kind: 'suspended' | 'lost' }>

export const stopOf = (signal: AbortSignal): Stop | null => (signal.aborted ? (signal.reason as Stop) : null)

export function agentStarted({ definition }: AgentParts): AgentStarted {
  const { name: agent, description } = definition
  const { provider, name: model } = answersWith(definition)
  return { agent, description, provider, model }
}
