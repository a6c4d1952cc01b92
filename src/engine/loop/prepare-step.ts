// What one step sends: the conversation as far as it fits, what stands for the rest of it, and the tools.

import { present } from '../../domain/present.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunInput, RunRecord } from '../../domain/session/run.ts'
import { type KeptSummary, SUMMARY } from '../../domain/session/summary.ts'
import type { Tool } from '../../tools/tool.ts'
import { stepFiles } from '../files/step-files.ts'
import type { Lane } from '../run/run-scope.ts'
import { type BuiltRequest, buildRequest, type StepInput } from './build-request.ts'
import { missingToolNotes, modelTools, offeredTools, withoutBrought } from './offered-tools.ts'
import { readForModel } from './read-for-model.ts'
import { withReadHistory } from './read-history-tool.ts'

export interface PreparedStep extends BuiltRequest {
  tools: ReadonlyMap<string, Tool>
  mark: StepMark
}

/** With the log and the agent's version it says what a step has sent: see `read-step.ts`. */
export interface StepMark {
  /** Digest of the agent's version. */
  version: string
  /** Id of the last message that was read. */
  after?: string | undefined
  /** Of the estimate, where it decided what fits. */
  correction?: number | undefined
  /** How many notes of the server there were. */
  notes?: number | undefined
  /** Id of the summary that stands for older messages. */
  summary?: string | undefined
}

/** The part of a conversation that is there for a step. */
interface View {
  history: readonly StoredMessage[]
  /** There are no older messages. */
  isWhole: boolean
  summary: KeptSummary | null
}

/** Reads the conversation anew, because tools, sub-agents and clients write to it between two steps. */
export async function prepareStep(lane: Lane, notes: readonly string[]): Promise<PreparedStep> {
  let view = await readView(lane)
  let step = await buildStep(lane, view, notes)
  for (let mayAsk = true; step.isCut && lane.id === null; mayAsk = false) {
    const shorter = await summarized(lane, view, step, mayAsk)
    if (shorter === null) return view.isWhole ? buildStep(lane, view, notes, true) : step
    view = shorter
    step = await buildStep(lane, view, notes)
  }
  if (lane.id === null) {
    showSummary(lane, view.summary)
    lane.scope.older.long = step.isLong && mayBeSummarized(lane) ? { agent: lane.agent, room: step.room } : null
  }
  return step
}

const mayBeSummarized = ({ agent }: Lane): boolean => agent.definition.context.mode === 'summarize'

async function readView(lane: Lane): Promise<View> {
  const { older } = lane.scope
  const read = (limit: number, known: readonly StoredMessage[]) => readHistory(lane, limit, known)
  // Only a conversation that is not read as a whole costs a look for its summary.
  const { history, isWhole } = await readForModel(lane.agent.definition, read, async () => {
    if (lane.id !== null) return undefined
    if (older.summary === undefined) older.summary = await lane.scope.summaries.newest(lane.scope.run.sessionId)
    return older.summary?.upTo
  })
  return { history, isWhole, summary: lane.id === null ? (older.summary ?? null) : null }
}

/** The view with a summary that it does not have yet. Null: there is none, and none can be made now. */
async function summarized(lane: Lane, view: View, step: BuiltRequest, mayAsk: boolean): Promise<View | null> {
  const { scope, agent, writer } = lane
  const { older, summaries, run, signal } = scope
  if (view.summary === null) {
    const known = await summaries.newest(run.sessionId)
    if (known !== null) {
      older.summary = known
      return { ...view, summary: known }
    }
  }
  if (!mayAsk || !mayBeSummarized(lane)) return null
  writer.emit({ type: 'STEP_STARTED', stepName: SUMMARY, timestamp: writer.timestamp() })
  await writer.flush()
  const made = await summaries.make({ sessionId: run.sessionId, agent, runId: run.id, room: step.room }, signal)
  writer.emit({ type: 'STEP_FINISHED', stepName: SUMMARY, timestamp: writer.timestamp() })
  if (made === null || made.id === view.summary?.id) return null
  older.summary = made
  return { ...view, summary: made }
}

/** Clients see a summary in the run that first uses it. */
function showSummary({ scope: { run }, writer }: Lane, summary: KeptSummary | null): void {
  if (summary === null || summary.shownIn !== undefined) return
  summary.shownIn = run.id
  const { id, ...content } = summary
  writer.emit({
    ...{ type: 'ACTIVITY_SNAPSHOT', messageId: id, activityType: SUMMARY },
    ...{ content: { ...content }, timestamp: writer.timestamp() },
  })
}

/** `isCut`: not all of it will fit, so the agent may have to read what is missing. */
async function buildStep(
  lane: Lane,
  { history, isWhole, summary }: View,
  notes: readonly string[],
  isCut = false,
): Promise<PreparedStep> {
  const { definition, correction } = lane.agent
  const recent = recentOf(history, summary)
  const hidesOlder = !isWhole || summary !== null
  const own = await offeredTools(lane)
  const offered = (hidesOlder || isCut) && lane.id === null ? withReadHistory(lane, own) : own
  const told = [...notes, ...missingToolNotes(lane)]
  const input = stepInput(lane.scope.run, { lane: lane.id, agent: definition.name }, told)
  const { shown, tools } = await stepFiles(lane, offered, recent, !hidesOlder, input)
  const sent = modelTools(tools.values())
  const { value } = correction
  const built = buildRequest({
    agent: definition,
    history: recent,
    hidesOlder,
    summary,
    files: shown.messages,
    input,
    tools: sent,
    sessionId: lane.scope.run.sessionId,
    correction: value,
  })
  const version = lane.scope.versions.keep(definition, withoutBrought(sent, tools))
  const mark = present({
    version,
    after: history.at(-1)?.id,
    correction: built.mayNotFit ? value : undefined,
    notes: told.length || undefined,
    summary: summary?.id,
  })
  return { ...built, tools, mark }
}

/** What comes after the summary, with the question that it answers. */
export function recentOf(history: readonly StoredMessage[], summary: KeptSummary | null): readonly StoredMessage[] {
  const at = summary === null ? -1 : history.findIndex(({ id }) => id === summary.upTo)
  if (summary === null || at === -1) return history
  const question = history.slice(0, at + 1).find(({ id }) => id === summary.question)
  return [...(question === undefined ? [] : [question]), ...history.slice(at + 1)]
}

/**
 * What the caller sent with the run is for the session's own agent. A sub-agent gets only the notes, and what is kept about the user only
 * the agent that has kept it.
 */
export function stepInput(
  run: Pick<RunRecord, 'agent' | 'input'>,
  { lane, agent }: { lane: string | null; agent: string },
  notes: readonly string[],
): StepInput {
  if (lane !== null) return { instructions: [], context: [], notes }
  const { instructions, context, responseFormat, memories } = run.input
  const kept = memories === undefined || agent !== run.agent ? [] : [memories]
  return { instructions, context, responseFormat, notes: [...kept, ...mustCallNotes(run.input), ...notes] }
}

/** Whoever must call a tool is told so from the start. A provider's own `tool_choice` would also forbid the agent's other tools. */
const mustCallNotes = (input: RunInput): string[] =>
  input.mustCall ? [`Do not answer in words: you must call one of these tools now: ${namesOf(input)}.`] : []

/** The newest messages. Those of `known` are not read again. */
export async function readHistory(
  { scope: { store, run }, id: lane }: Lane,
  limit: number,
  known: readonly StoredMessage[] = [],
): Promise<StoredMessage[]> {
  if (lane !== null) return store.messages.ofLane(run.sessionId, lane, limit)
  const older = await store.messages.page(run.sessionId, limit - known.length, { before: known[0]?.id })
  return [...older, ...known]
}

export const namesOf = (input: RunInput): string => input.clientTools.map(({ name }) => name).join(', ')
