// An agent at work in one conversation: context → model → tools, step by step, until it has nothing more to call or has to wait.
// Where it stands is read from the stored messages, so a fresh run, one that goes on after a crash and one that goes on after
// an answer are the same thing here.

import type { AgentDefinition } from '../../domain/agent.ts'
import { ServerError } from '../../domain/errors.ts'
import { type StoredMessage, type ToolCall, textOf } from '../../domain/message.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { ModelRequest } from '../../models/model.ts'
import { stepFiles, withReadFile } from '../files/step-files.ts'
import type { Budget } from './budget.ts'
import { buildRequest, hasAttachments } from './build-request.ts'
import { type Answer, createModelStep } from './model-step.ts'
import { missingToolNotes, modelTools, offeredTools, predictedState } from './offered-tools.ts'
import { openCalls } from './open-calls.ts'
import type { AgentParts, Lane, Pending, RunScope } from './run-scope.ts'
import { readWaits, runToolCalls, type StepEnd } from './tool-step.ts'

export type LoopEnd =
  /** The last answer; its messages are not stored yet. */
  | { type: 'answered'; answer: Pick<Answer, 'messages' | 'finish' | 'text'> }
  /** `agent` is the one that has the conversation by now. */
  | { type: 'waiting'; pending: Pending[]; agent: AgentParts }

/** How far back the work of an earlier run or process is looked for. */
const LOOK_BACK = 1_000

/** Throws what ends the run; a `StepBroken` has with it what is to be stored of the answer. */
export async function runAgent(scope: RunScope, lane: Lane, first: AgentParts, budget: Budget): Promise<LoopEnd> {
  const { run, signal, usage } = scope
  const { pen } = lane
  let agent = first
  let stepNumber = lane.id === null ? scope.stepsDone : 0
  /** Told to the model until the run ends. */
  const notes: string[] = []
  let repaired = false

  const readHistory = (limit: number): Promise<StoredMessage[]> =>
    lane.id === null
      ? scope.store.messages.page(run.sessionId, limit)
      : scope.store.messages.ofLane(run.sessionId, lane.id, limit)

  function takeOver(end: StepEnd): Pending[] | null {
    if (end.handedTo !== null) agent = end.handedTo
    return end.pending.length > 0 ? end.pending : null
  }

  const isResumed = lane.id !== null || scope.isContinued
  // Before the messages: a client's result that comes in between is then found among them, and never missed.
  const waits = isResumed ? await readWaits(scope) : []
  const answerInTheOpen = openAnswer(isResumed ? await readHistory(LOOK_BACK) : [], budget)
  if (answerInTheOpen !== null) {
    const caller = scope.agents.get(answerInTheOpen.agentName ?? '') ?? agent
    const tools = withReadFile(scope, caller, await offeredTools(scope, lane, caller))
    const pending = takeOver(await runToolCalls(scope, lane, caller, tools, answerInTheOpen.calls, { waits }))
    if (pending !== null) return { type: 'waiting', pending, agent }
  }

  for (let isFirst = true; ; isFirst = false) {
    signal.throwIfAborted()
    budget.step()
    stepNumber += 1
    const stepName = `step_${stepNumber}`
    const { definition, model } = agent
    const { history, limit } = await readForModel(readHistory, definition)
    const offered = await offeredTools(scope, lane, agent)
    const told = [...notes, ...missingToolNotes(agent)]
    const input = {
      instructions: lane.id === null ? [...run.input.instructions, ...told] : told,
      context: lane.id === null ? run.input.context : [],
      ...(lane.id === null && run.input.responseFormat !== undefined
        ? { responseFormat: run.input.responseFormat }
        : {}),
    }
    const { shown, tools } = await stepFiles(scope, lane, agent, offered, history, limit, input)
    const { request, estimated } = buildRequest(
      definition,
      history,
      input,
      modelTools(tools),
      run.sessionId,
      agent.correction.value,
      shown.messages,
    )
    const predicted = isFirst ? predictedState(tools) : []
    if (predicted.length > 0) {
      pen.emit({ type: 'CUSTOM', name: 'PredictState', value: predicted, timestamp: pen.timestamp() })
    }
    // Tools and other agents may have used tokens since the last look.
    budget.used(usage.total)
    pen.emit({ type: 'STEP_STARTED', stepName, timestamp: pen.timestamp() })
    const step = createModelStep({
      model,
      run,
      agentName: definition.name,
      shownName: agent === scope.root ? null : definition.name,
      lane: lane.id,
      writer: pen,
      ids: scope.ids,
      maxStoredChars: definition.limits.storedMessageChars,
      budget,
    })
    let answer: Answer
    try {
      answer = await step.read({ ...request, log: scope.log.with({ agent: definition.name }) }, signal)
      signal.throwIfAborted()
    } catch (error) {
      const partial = step.usage()
      if (partial !== null) usage.add(model.provider, model.name, partial)
      const broken = step.brokenOff()
      if (broken.length > 0 || !refusesAttachments(request, error) || !goOnWithText(scope, agent, error)) {
        throw new StepBroken(error, broken)
      }
      pen.emit({ type: 'STEP_FINISHED', stepName, timestamp: pen.timestamp() })
      continue
    }
    if (answer.usage !== null) {
      usage.add(model.provider, model.name, answer.usage)
      agent.correction.learn(estimated, answer.usage.inputTokens)
    }
    pen.emit({ type: 'STEP_FINISHED', stepName, timestamp: pen.timestamp() })

    if (answer.calls.length === 0 && answer.filtered.length === 0) {
      const problems = answerProblems(request.responseFormat, answer)
      if (problems === null) return { type: 'answered', answer }
      if (repaired) {
        const message = `The answer does not fit the response format, also at the second try: ${problems}`
        throw new StepBroken(new ServerError('invalid_answer', message), step.brokenOff())
      }
      repaired = true
      await pen.commit({ messages: step.brokenOff() })
      notes.push(repairNote(answer.text, problems))
      continue
    }

    for (const { function: call } of answer.filtered) {
      budget.toolCall(call.name, call.arguments)
      notes.push(`Your call of ${call.name} was refused: that tool may not be used here. Go on without it.`)
    }
    const at = pen.timestamp()
    const finished = {
      fact: 'step_finished' as const,
      run: run.id,
      step: stepNumber,
      usage: usage.total,
      ...(lane.id === null ? {} : { lane: lane.id }),
      at,
    }
    // What was said is kept whatever comes next, a limit that the calls reach included.
    const over = overBudget(budget, scope, answer.calls)
    if (over !== null) {
      await pen.commit({ facts: [finished], messages: answer.messages })
      throw over
    }
    const pending = takeOver(
      await runToolCalls(scope, lane, agent, tools, answer.calls, { facts: [finished], messages: answer.messages }),
    )
    if (pending !== null) return { type: 'waiting', pending, agent }
  }
}

/** How many are read first; more only where these may not be all that the model is shown. */
const FIRST_READ = 100
/** A token is counted as four characters, and that is corrected by a factor of four at most. */
const MOST_CHARACTERS_A_TOKEN = 16

/** The newest messages, at least back to the last user turn: what the model is shown begins with one. */
async function readForModel(
  read: (limit: number) => Promise<StoredMessage[]>,
  { context, model }: AgentDefinition,
): Promise<{ history: StoredMessage[]; limit: number }> {
  // Of what is stored, some is not shown: thoughts, and answers that broke off.
  const most = context.maxMessages * 2
  for (let limit = Math.min(FIRST_READ, most); ; limit *= 4) {
    const history = await read(limit)
    if (history.length < limit) return { history, limit }
    const hasQuestion = history.some(({ role }) => role === 'user')
    const isFull = limit >= most || charactersOf(history) > model.contextWindow * MOST_CHARACTERS_A_TOKEN
    if (hasQuestion && isFull) return { history, limit }
  }
}

const charactersOf = (messages: readonly StoredMessage[]): number =>
  messages.reduce((sum, { content }) => sum + textOf(content).length, 0)

/** An answer that stopped half-way, and what is kept of it. */
export class StepBroken extends Error {
  readonly messages: StoredMessage[]

  constructor(cause: unknown, messages: StoredMessage[]) {
    super('an answer stopped half-way', { cause })
    this.messages = messages
  }
}

/** What is to be done first. What was done since the user's last word counts against the limits. */
function openAnswer(
  history: readonly StoredMessage[],
  budget: Budget,
): { agentName: string | undefined; calls: ToolCall[] } | null {
  const { answers, calls } = openCalls(history)
  for (const { toolCalls = [] } of answers) {
    budget.step()
    for (const { function: call } of toolCalls) budget.toolCall(call.name, call.arguments)
  }
  return calls.length === 0 ? null : { agentName: answers.at(-1)?.agentName, calls }
}

function overBudget(budget: Budget, { usage }: RunScope, calls: readonly ToolCall[]): ServerError | null {
  try {
    budget.used(usage.total)
    for (const { function: call } of calls) budget.toolCall(call.name, call.arguments)
    return null
  } catch (error) {
    if (error instanceof ServerError) return error
    throw error
  }
}

/** Whether it may be the files that the model does not take. */
const refusesAttachments = ({ messages }: ModelRequest, error: unknown): boolean =>
  hasAttachments(messages) &&
  error instanceof ServerError &&
  (error.code === 'model_bad_request' || error.code === 'model_context_overflow')

/** One picture that a provider does not like must not make a whole conversation impossible. False: that was tried. */
function goOnWithText({ files, log, signal }: RunScope, { model }: AgentParts, error: unknown): boolean {
  if (files?.attaches !== true || signal.aborted) return false
  files.stopAttaching()
  log.warn('a model refused attached files and is asked again with their text; model.input says which it takes', {
    model: model.name,
    error,
  })
  return true
}

/** Null: it fits. An answer that was cut off is not judged: its end says so. */
function answerProblems(schema: Record<string, unknown> | null, { text, finish }: Answer): string | null {
  if (schema === null || finish === 'length') return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'it is not JSON.'
  }
  const checked = jsonCheckOf(schema).check(value)
  return checked.ok ? null : `${checked.problems.join('; ')}.`
}

const repairNote = (text: string, problems: string): string =>
  `Your last answer was:\n${text.slice(0, 4_000)}\nIt does not fit the required JSON Schema: ${problems}\n` +
  'Answer again with the corrected JSON alone: no other words, no code fence.'
