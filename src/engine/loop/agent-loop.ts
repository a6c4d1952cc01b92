// One agent at work in one conversation. Each step builds a request, asks the model, and runs the calls of its answer. The loop
// ends when an answer has no calls, or when a call has to wait for someone.
//
// The stored messages say where the conversation stands. So a new run, a run that goes on after a crash and one that goes on
// after a person's answer all begin here in the same way.

import { hasCode, ServerError } from '../../domain/errors.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { present } from '../../domain/present.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { TokenUsage } from '../../domain/session/event.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { Model, ModelUsage } from '../../models/model.ts'
import type { Tool } from '../../tools/tool.ts'
import { withReadFile } from '../files/step-files.ts'
import type { AgentParts, Lane, Pending } from '../run/run-scope.ts'
import { usageEntry } from './budget.ts'
import { hasAttachments } from './build-request.ts'
import { openCalls } from './call-records.ts'
import { type Answer, asBrokenOff, readAnswer, StepBroken } from './model-step.ts'
import { offeredTools, predictedState } from './offered-tools.ts'
import { namesOf, type PreparedStep, prepareStep, readHistory } from './prepare-step.ts'
import { withReadHistory } from './read-history-tool.ts'
import { nothingLeft, runToolCalls, type StepEnd } from './tool-step.ts'

export type LoopEnd =
  /** The last answer. Its messages are not stored yet. */
  | { type: 'answered'; answer: Pick<Answer, 'messages' | 'finish' | 'text'> }
  /** `agent` is the one that has the conversation now. */
  | { type: 'waiting'; pending: Pending[]; agent: AgentParts }

/** Throws what ends the run: a `StepBroken` if an answer stopped half-way, so that what there is of it can be stored. */
export function runAgent(lane: Lane<AgentParts>): Promise<LoopEnd> {
  const { agent } = lane
  return agent.host === null ? runModelLoop({ ...lane, agent }) : agent.host.work({ ...lane, agent })
}

async function runModelLoop(given: Lane): Promise<LoopEnd> {
  const { scope, writer, budget } = given
  const { signal, usage } = scope
  let lane = given
  let stepNumber = lane.id === null ? scope.stepsDone : 0
  let isRepaired = false
  /** Sentences for the model that are not part of the conversation. */
  const notes: string[] = []

  const left = lane.id === null && !scope.isContinued ? nothingLeft : await finishOpenCalls(lane)
  lane = { ...lane, agent: left.handedTo ?? lane.agent }
  if (left.pending.length > 0) return { type: 'waiting', pending: left.pending, agent: lane.agent }

  for (let isFirst = true; ; isFirst = false) {
    signal.throwIfAborted()
    if (!isFirst && lane.id === null) scope.betweenSteps()
    budget.step()
    stepNumber += 1
    const step = await prepareStep(lane, notes)
    if (isFirst) announcePredictedState(lane, step.tools)
    // Tools and sub-agents may have used tokens since the last check.
    budget.used(usage.total)

    const answer = await askModel(lane, step, `step_${stepNumber}`)
    if (answer === 'ask again') continue

    if (answer.calls.length === 0 && answer.filtered.length === 0) {
      const wrong = missingCall(lane, answer) ?? wrongFormat(step.request.responseFormat, answer)
      if (wrong === null) return { type: 'answered', answer }
      const rejected = asBrokenOff(answer.messages)
      if (isRepaired) throw new StepBroken(wrong.error, rejected, answer.usage)
      isRepaired = true
      await writer.commit({ messages: rejected })
      notes.push(`Your last answer was:\n${answer.text.slice(0, 4_000)}\n${wrong.note}`)
      continue
    }

    const said = { facts: [stepFinished(lane, stepNumber)], messages: answer.messages }
    try {
      budget.used(usage.total)
      for (const { function: call } of [...answer.filtered, ...answer.calls]) budget.toolCall(call.name, call.arguments)
    } catch (error) {
      // The answer is kept, although its calls do not run.
      await writer.commit(said)
      throw error
    }
    notes.push(...answer.filtered.map(({ function: { name } }) => filteredNote(name)))

    const end = await runToolCalls(lane, step.tools, answer.calls, said)
    lane = { ...lane, agent: end.handedTo ?? lane.agent }
    if (end.pending.length > 0) return { type: 'waiting', pending: end.pending, agent: lane.agent }
  }
}

/** How many messages are searched for open calls, and how many waits for what became of them. */
const LOOK_BACK = 1_000

/** Runs the calls that an earlier run or process left open. What was done since the user's last message counts against the limits. */
async function finishOpenCalls(lane: Lane): Promise<StepEnd> {
  const { scope, budget } = lane
  // Read before the messages: a client's result that arrives in between is then among them, and is not missed.
  const waits = await scope.store.waits.list({ sessionId: scope.run.sessionId, limit: LOOK_BACK })
  const { answers, calls } = openCalls(await readHistory(lane, LOOK_BACK))
  for (const { toolCalls = [] } of answers) {
    budget.step()
    for (const { function: call } of toolCalls) budget.toolCall(call.name, call.arguments)
  }
  if (calls.length === 0) return nothingLeft
  const asked = scope.agents.get(answers.at(-1)?.agentName ?? '')
  const caller = { ...lane, agent: asked === undefined || asked.host !== null ? lane.agent : asked }
  const tools = withReadHistory(caller, withReadFile(caller, await offeredTools(caller)))
  return runToolCalls(caller, tools, calls, { waits })
}

function announcePredictedState({ writer }: Lane, tools: ReadonlyMap<string, Tool>): void {
  const predicted = predictedState(tools)
  if (predicted.length === 0) return
  writer.emit({ type: 'CUSTOM', name: 'PredictState', value: predicted, timestamp: writer.timestamp() })
}

/** `ask again`: the model refused the attached files, so the next request has their text instead. */
async function askModel(
  lane: Lane,
  { request, estimated, mark }: PreparedStep,
  stepName: string,
): Promise<Answer | 'ask again'> {
  const { writer, agent } = lane
  const finished = (metadata: StepMetadata | undefined) =>
    writer.emit({ type: 'STEP_FINISHED', stepName, ...present({ metadata }), timestamp: writer.timestamp() })
  writer.emit({ type: 'STEP_STARTED', stepName, metadata: { quarterdeck: mark }, timestamp: writer.timestamp() })
  try {
    const answer = await readAnswer(lane, request)
    if (answer.usage !== null) agent.correction.learn(estimated, answer.usage.inputTokens)
    finished(stepMetadata(agent.model, answer.usage))
    return answer
  } catch (error) {
    const metadata = error instanceof StepBroken ? stepMetadata(agent.model, error.usage) : undefined
    const isRefused = error instanceof StepBroken && error.messages.length === 0 && hasCode(error.cause, ...BAD_REQUEST)
    if (!isRefused || !hasAttachments(request.messages) || !goOnWithText(lane, error.cause)) {
      if (metadata !== undefined) writer.markStep(stepName, metadata)
      throw error
    }
    finished(metadata)
    return 'ask again'
  }
}

type StepMetadata = { quarterdeck: { usage: TokenUsage } }

/** What one step used, for people who look at where tokens go. AG-UI has a field for it only at the end of a run. */
const stepMetadata = ({ provider, name }: Model, usage: ModelUsage | null): StepMetadata | undefined =>
  usage === null ? undefined : { quarterdeck: { usage: usageEntry(provider, name, usage) } }

const BAD_REQUEST = ['model_bad_request', 'model_context_overflow'] as const

/** One picture that a provider does not accept must not block a whole conversation. False if text was tried already. */
function goOnWithText({ scope: { files, log, signal }, agent: { model } }: Lane, error: unknown): boolean {
  if (files?.attaches() !== true || signal.aborted) return false
  files.stopAttaching()
  log.warn('a model refused attached files and is asked again with their text; model.input says which it takes', {
    model: model.name,
    error,
  })
  return true
}

const stepFinished = ({ scope: { run, usage }, id: lane, writer }: Lane, step: number): Fact => ({
  fact: 'step_finished',
  run: run.id,
  step,
  usage: usage.total,
  lane: lane ?? undefined,
  at: writer.timestamp(),
})

const filteredNote = (tool: string): string =>
  `Your call of ${tool} was refused: that tool may not be used here. Go on without it.`

/** An answer that is not taken: what the model is told about it, and how the run ends if the next one is wrong too. */
interface WrongAnswer {
  note: string
  error: ServerError
}

/** Null if no call is demanded: a run that calls a client's tool does not end with an answer. */
function missingCall({ scope: { run }, id: lane }: Lane, { finish }: Answer): WrongAnswer | null {
  const { input } = run
  if (lane !== null || !input.mustCall || finish === 'length') return null
  return {
    note: `You must call one of these tools in its place: ${namesOf(input)}.`,
    error: new ServerError(
      'invalid_answer',
      `The model called none of the demanded tools, also at the second try: ${namesOf(input)}.`,
    ),
  }
}

function wrongFormat(schema: Record<string, unknown> | null, answer: Answer): WrongAnswer | null {
  const problems = formatProblems(schema, answer)
  return problems === null ? null : { note: repairNote(problems), error: invalidAnswer(problems) }
}

/** Null if the answer fits. An answer that was cut off is not checked: the end of the run says that it was cut. */
function formatProblems(schema: Record<string, unknown> | null, { text, finish }: Answer): string | null {
  if (schema === null || finish === 'length') return null
  const value = jsonIn(text)
  if (value === undefined) return 'it is not JSON.'
  const checked = jsonCheckOf(schema).check(value)
  return checked.ok ? null : `${checked.problems.join('; ')}.`
}

const invalidAnswer = (problems: string): ServerError =>
  new ServerError('invalid_answer', `The answer does not fit the response format, also at the second try: ${problems}`)

const repairNote = (problems: string): string =>
  `It does not fit the required JSON Schema: ${problems}\n` +
  'Answer again with the corrected JSON alone: no other words, no code fence.'
