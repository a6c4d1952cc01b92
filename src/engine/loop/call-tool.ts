// One call of a server tool, with its timeout, its retries and the events that it sends while it works.

import { untilAborted } from '../../domain/abort.ts'
import type { QuestionAnswer, ToolQuestion } from '../../domain/agent/question.ts'
import { sleep } from '../../domain/clock.ts'
import { ServerError } from '../../domain/errors.ts'
import type { Approval } from '../../domain/records/record.ts'
import type { ToolCall } from '../../domain/session/message.ts'
import type { Shown } from '../../domain/session/source.ts'
import { askedRecord } from '../../domain/supervision/approval-audit.ts'
import { type TraceContext, traceFields } from '../../domain/telemetry.ts'
import { jsonProblem } from '../../json/json-limits.ts'
import { noNumbers, type ServerTool, type ToolOutcome, type ToolVoice } from '../../tools/tool.ts'
import { logWaits } from '../run/run-log.ts'
import { type Lane, type RunScope, searchesDocuments } from '../run/run-scope.ts'
import { gatedCall, questionAnswer, type RunnableCall } from './prepare-call.ts'

type ServerCall = RunnableCall & { tool: ServerTool }

interface Called {
  outcome: ToolOutcome
  /** The passages in the outcome, each with its number. */
  shown: readonly Shown[]
}

/** Never throws: a failure is an outcome. Ignore the outcome if the run was told to stop. */
export async function callTool(lane: Lane, prepared: ServerCall, trace: TraceContext | undefined): Promise<Called> {
  const { scope } = lane
  const { tool } = prepared
  // A call that must take effect only once is never retried, whatever is configured.
  const tries = tool.effect === 'once' ? 1 : 1 + tool.retries
  for (let attempt = 1; ; attempt += 1) {
    const { outcome, shown } = await tryOnce(lane, prepared, trace)
    if (outcome.isPassing !== true || attempt >= tries || scope.signal.aborted) return { outcome, shown }
    await sleep(scope.clock, FIRST_PAUSE_MS * 2 ** (attempt - 1), scope.signal)
  }
}

/** Pause before the second try. It doubles before each further one. */
const FIRST_PAUSE_MS = 250

async function tryOnce(lane: Lane, prepared: ServerCall, trace: TraceContext | undefined): Promise<Called> {
  const { scope, agent } = lane
  const { run, signal, log } = scope
  const { tool, call, arguments: args, answers } = prepared
  const ended = new AbortController()
  const over = new AbortController()
  const startTimer = () => scope.clock.after(tool.timeoutMs, () => ended.abort())
  let stopTimer = startTimer()
  let held = 0
  const both = AbortSignal.any([signal, ended.signal])
  const { voice, silence } = createVoice(lane, tool, call, trace)
  /** A person may take longer than the tool. Its time begins anew when they have answered. */
  async function hold(question: ToolQuestion, until: AbortSignal): Promise<QuestionAnswer> {
    held += 1
    stopTimer()
    try {
      return await holdQuestion(lane, prepared, question, AbortSignal.any([both, over.signal, until]))
    } finally {
      held -= 1
      if (held === 0 && !over.signal.aborted) stopTimer = startTimer()
    }
  }
  try {
    const ofCall = tool.passagesNow !== undefined || searchesDocuments(agent) ? await numbersOfCall(scope) : null
    const request = {
      callId: call.id,
      arguments: args,
      sessionId: run.sessionId,
      runId: run.id,
      owner: run.owner,
      agent: agent.definition.name,
      forwardedProps: run.input.forwardedProps,
      resultChars: agent.definition.limits.toolResultChars,
      trace,
      voice,
      answers,
      numbers: ofCall?.numbers ?? noNumbers,
      hold,
    }
    // A tool that ignores its signal must not keep the run alive.
    const outcome = await untilAborted(tool.call(request, both), both)
    return { outcome, shown: outcome.isError ? [] : (ofCall?.given() ?? []) }
  } catch (error) {
    if (ended.signal.aborted && !signal.aborted)
      return failed(`The tool did not answer within ${tool.timeoutMs / 1000} s.`)
    if (error instanceof ServerError) return failed(error.message)
    if (!signal.aborted) log.warn('a tool threw', { tool: tool.name, call_id: call.id, error })
    return failed('The tool failed.')
  } finally {
    silence()
    stopTimer()
    // What it still asks, nobody needs to answer.
    over.abort()
  }
}

async function numbersOfCall(scope: RunScope) {
  const { openNumbers } = await import('../citations/passage-numbers.ts')
  return (await openNumbers(scope)).forCall()
}

const failed = (content: string): Called => ({ outcome: { content, isError: true, isPassing: true }, shown: [] })

/** In characters. Clients use these names as keys. */
const MAX_NAME = 128

/** A tool may send anything, and a client fails the whole run for one event that it cannot read. */
function asJson(value: unknown): unknown {
  const problem = jsonProblem(value)
  if (problem !== null)
    throw new ServerError('tool_failed', `The tool tried to show something that is too large. ${problem}`)
  return JSON.parse(JSON.stringify(value) ?? 'null')
}

function createVoice(
  { scope: { state, log }, writer }: Lane,
  tool: ServerTool,
  call: ToolCall,
  trace: TraceContext | undefined,
): { voice: ToolVoice; silence: () => void } {
  let isActive = true
  const show = () => {
    // Clients see it at once. Nothing waits for this commit, because the commit of the result comes after it.
    writer.flush().catch((error: unknown) => log.warn('an event of a tool is late', { error }))
  }
  function activity(id: string, activityType: string, content: Record<string, unknown>): void {
    if (!isActive) return
    const messageId = `${call.id}_${id.slice(0, MAX_NAME)}`
    const value = asJson(content)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new TypeError('The content of an activity must be an object.')
    }
    writer.emit({
      type: 'ACTIVITY_SNAPSHOT',
      messageId,
      activityType: activityType.slice(0, MAX_NAME),
      content: { ...value },
      timestamp: writer.timestamp(),
    })
    show()
  }
  const voice: ToolVoice = {
    log: log.with({ tool: tool.name, call_id: call.id, ...traceFields(trace) }),
    state: () => state.read(),
    setState(next) {
      if (!isActive) return
      state.replace(next)
      show()
    },
    emit(name, value) {
      if (!isActive) return
      const shortName = String(name).slice(0, MAX_NAME)
      writer.emit({ type: 'CUSTOM', name: shortName, value: asJson(value), timestamp: writer.timestamp() })
      show()
    },
    activity,
    progress(done, total, message) {
      activity('progress', 'PROGRESS', { tool: tool.name, done, total, message })
    },
  }
  return {
    voice,
    silence: () => {
      isActive = false
    },
  }
}

/** The answer may come through another process, so the store is asked. */
const LOOK_EVERY_MS = 250

/**
 * A question of a tool that cannot be suspended: the call waits, with its connection, while the run executes. The record is the same
 * as any question's. If the process dies, nobody waits for the answer any more, and recovery interrupts the record. Throws when the
 * signal aborts, or when the question was interrupted.
 */
async function holdQuestion(
  lane: Lane,
  prepared: RunnableCall,
  question: ToolQuestion,
  signal: AbortSignal,
): Promise<QuestionAnswer> {
  signal.throwIfAborted()
  const { scope, agent } = lane
  const { gate, store, clock, log } = scope
  const held = { ...question, index: 0, effect: prepared.tool.effect, held: true } as const
  const wait = await gate.question(gatedCall(lane, prepared), held)
  show(lane, wait, 'pending')
  await lane.writer.commit({ waits: [wait], audit: [askedRecord(wait)] })
  logWaits(log, agent.definition.name, [{ wait, isNew: true, subagentRunId: lane.subagentRunId }])
  for (;;) {
    await sleep(clock, LOOK_EVERY_MS, signal)
    const now = await store.waits.get(wait.id)
    if (now?.wait === 'approval' && now.status !== 'pending') {
      const answer = questionAnswer(now)
      if (answer === null) throw new ServerError('tool_failed', 'The question of this tool was broken off.')
      show(lane, wait, now.status)
      return answer
    }
    if (signal.aborted || now === null) {
      await interrupt(scope, wait)
      signal.throwIfAborted()
      throw new ServerError('tool_failed', 'The question of this tool was broken off.')
    }
  }
}

/** Somebody may have answered just now; then nothing changes. */
async function interrupt({ settle, clock, log }: RunScope, { id }: Approval): Promise<void> {
  try {
    await settle([{ waitId: id, at: clock.now(), by: 'the end of the call', outcome: { type: 'interrupted' } }])
  } catch (error) {
    log.warn('a question that nobody waits for could not be closed; it ends with its run', { approval_id: id, error })
  }
}

/** The run goes on, so its stream has no interrupt. This tells clients that somebody is asked. */
function show({ writer }: Lane, { id, callId, question, expiresAt }: Approval, status: string): void {
  writer.emit({
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${callId}_${id}`,
    activityType: 'QUESTION',
    content: { approvalId: id, status, message: question?.message, schema: question?.schema, expiresAt },
    timestamp: writer.timestamp(),
  })
}
