// The run loop: context → model → events → log, step by step, until the model has nothing more to call. Everything it needs
// comes in as arguments; it ends with exactly one terminal event, whatever happens.

import type { AgentDefinition } from '../domain/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { TerminalEvent, TokenUsage } from '../domain/event.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { StoredMessage, ToolCall } from '../domain/message.ts'
import type { RunRecord } from '../domain/run.ts'
import type { SessionRecord } from '../domain/session.ts'
import { unreachable } from '../domain/unreachable.ts'
import type { Model } from '../models/model.ts'
import type { Store } from '../store/store.ts'
import type { Tool } from '../tools/tool.ts'
import { createBudget, exceeded } from './budget.ts'
import { buildRequest } from './build-request.ts'
import type { createTokenCorrection } from './context-window.ts'
import { type Answer, type AnswerInProgress, createModelStep } from './model-step.ts'
import type { RunEnd, RunWriter } from './run-writer.ts'
import { type Stop, stopOf } from './stop.ts'
import { runToolCalls } from './tool-step.ts'
import { addUsage } from './usage.ts'

export interface AgentParts {
  definition: AgentDefinition
  model: Model
  tools: ReadonlyMap<string, Tool>
  correction: ReturnType<typeof createTokenCorrection>
}

export interface ExecuteDeps {
  store: Pick<Store, 'messages'>
  clock: Clock
  ids: Ids
  log: Logger
}

/** Where a recovered run goes on. */
export interface Resumption {
  stepsDone: number
  usage: TokenUsage[]
  /** All calls that the run has made so far, in order: they count against its limits. */
  callsDone: ToolCall[]
  /** Those of the last answer that have no result yet and may be (re)started. */
  calls: ToolCall[]
}

/** `suspended`: given back to be recovered later. `lost`: another process has taken it over. */
export type Outcome = RunEnd['status'] | 'suspended' | 'lost'

export async function executeRun(
  deps: ExecuteDeps,
  agent: AgentParts,
  run: RunRecord,
  session: SessionRecord,
  writer: RunWriter,
  stop: AbortController,
  resumption: Resumption = { stepsDone: 0, usage: [], callsDone: [], calls: [] },
): Promise<{ outcome: Outcome; usage: TokenUsage[] }> {
  const { limits } = agent.definition
  const seconds = limits.durationMs / 1000
  const stopTimer = deps.clock.after(limits.durationMs, () => {
    const { code, message } = exceeded('duration', seconds, `${seconds} s`)
    stop.abort({ kind: 'failed', code, message } satisfies Stop)
  })
  let usage = resumption.usage
  let step: AnswerInProgress | null = null

  async function loop(): Promise<Pick<Answer, 'messages' | 'finish'>> {
    const budget = createBudget(agent.definition, resumption.stepsDone)
    let stepNumber = resumption.stepsDone
    if (stepNumber > 0) budget.used(usage)
    for (const call of resumption.callsDone) budget.toolCall(call.function.name, call.function.arguments)
    if (resumption.calls.length > 0)
      await runToolCalls({ ...deps, tools: agent.tools }, run, resumption.calls, writer, stop.signal)
    const tools = [...agent.tools.values()].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }))
    const refusals: string[] = []
    for (;;) {
      stop.signal.throwIfAborted()
      budget.step()
      stepNumber += 1
      const stepName = `step_${stepNumber}`
      const history = await deps.store.messages(run.sessionId, agent.definition.context.maxMessages * 2)
      const input = { ...run.input, instructions: [...run.input.instructions, ...refusals] }
      const { request, estimated } = buildRequest(
        agent.definition,
        history,
        input,
        tools,
        run.sessionId,
        agent.correction.value,
      )
      writer.emit({ type: 'STEP_STARTED', stepName, timestamp: writer.timestamp() })
      step = createModelStep(agent.model, run, agent.definition.name, writer, deps.ids, limits.storedMessageChars)
      const answer = await step.read(request, stop.signal)
      stop.signal.throwIfAborted()
      step = null
      if (answer.usage !== null) {
        usage = addUsage(usage, agent.model.provider, agent.model.name, answer.usage)
        agent.correction.learn(estimated, answer.usage.inputTokens)
      }
      writer.emit({ type: 'STEP_FINISHED', stepName, timestamp: writer.timestamp() })
      if (answer.calls.length === 0 && answer.filtered.length === 0) return answer

      for (const { function: call } of answer.filtered) {
        budget.toolCall(call.name, call.arguments)
        refusals.push(`Your call of ${call.name} was refused: that tool may not be used here. Go on without it.`)
      }
      const at = writer.timestamp()
      const intents = answer.calls.map((call) => ({
        fact: 'tool_intent' as const,
        run: run.id,
        call: call.id,
        tool: call.function.name,
        effect: agent.tools.get(call.function.name)?.effect ?? ('read' as const),
        at,
      }))
      const finished = { fact: 'step_finished' as const, run: run.id, step: stepNumber, usage, at }
      await writer.commit({ facts: [finished, ...intents], messages: answer.messages })
      budget.used(usage)
      for (const call of answer.calls) budget.toolCall(call.function.name, call.function.arguments)
      await runToolCalls({ ...deps, tools: agent.tools }, run, answer.calls, writer, stop.signal)
    }
  }

  try {
    if (session.state !== undefined) {
      writer.emit({ type: 'STATE_SNAPSHOT', snapshot: session.state, timestamp: writer.timestamp() })
    }
    const answer = await loop()
    await writer.finish(completed(run, session, usage, answer, writer.timestamp()))
    return { outcome: 'completed', usage }
  } catch (error) {
    const inProgress = step as AnswerInProgress | null
    const partial = inProgress?.usage() ?? null
    if (partial !== null) usage = addUsage(usage, agent.model.provider, agent.model.name, partial)
    const stopped = stopOf(stop.signal)
    if (stopped?.kind === 'suspended') return { outcome: 'suspended', usage }
    if (error instanceof ServerError && error.code === 'run_fenced') return { outcome: 'lost', usage }
    const end = ending(
      stopped ?? failure(error, run, deps.log),
      run,
      session,
      usage,
      inProgress?.brokenOff() ?? [],
      writer.timestamp(),
    )
    await writer.finish(end)
    return { outcome: end.status, usage }
  } finally {
    stopTimer()
  }
}

/** On RUN_FINISHED, when the answer ended at the model's limit of tokens. */
export const CUT_BY_LENGTH = { quarterdeck: { finishReason: 'length' } }

const threadId = (run: RunRecord, session: SessionRecord): string =>
  run.input.wireThreadId ?? session.alias ?? session.id

function completed(
  run: RunRecord,
  session: SessionRecord,
  usage: TokenUsage[],
  { messages, finish }: Pick<Answer, 'messages' | 'finish'>,
  timestamp: number,
): RunEnd {
  const terminal: TerminalEvent = {
    type: 'RUN_FINISHED',
    threadId: threadId(run, session),
    runId: run.wireId,
    outcome: { type: 'success' },
    ...(usage.length === 0 ? {} : { usage }),
    // AG-UI has no word for an answer that the model's own limit cut off; the OpenAI doors do.
    ...(finish === 'length' ? { metadata: CUT_BY_LENGTH } : {}),
    timestamp,
  }
  return { status: 'completed', terminal, messages, usage, error: null }
}

/** How a run that was stopped or failed ends on the wire and in the store. */
export function ending(
  stop: Exclude<Stop, { kind: 'suspended' }>,
  run: RunRecord,
  session: SessionRecord,
  usage: TokenUsage[],
  messages: StoredMessage[],
  timestamp: number,
): RunEnd {
  const shared = usage.length === 0 ? {} : { usage }
  switch (stop.kind) {
    case 'cancelled':
      return {
        status: 'cancelled',
        terminal: {
          type: 'RUN_FINISHED',
          threadId: threadId(run, session),
          runId: run.wireId,
          outcome: { type: 'cancelled' },
          ...shared,
          timestamp,
        },
        messages,
        usage,
        error: null,
      }
    case 'failed': {
      const { code, message } = stop
      const status = code === 'interrupted' || code === 'needs_review' ? 'interrupted' : 'failed'
      return {
        status,
        terminal: { type: 'RUN_ERROR', message, code, ...shared, timestamp },
        messages,
        usage,
        error: { code, message },
      }
    }
    default:
      return unreachable(stop)
  }
}

/** Only our own errors speak to the client; anything else is a bug and gets a fixed text and an id. */
function failure(error: unknown, run: RunRecord, log: Logger): Extract<Stop, { kind: 'failed' }> {
  if (error instanceof ServerError) return { kind: 'failed', code: error.code, message: error.message }
  log.error('a run failed unexpectedly', { run_id: run.id, session_id: run.sessionId, error })
  return {
    kind: 'failed',
    code: 'internal_error',
    message: `Something went wrong in the server. The log has the details under run ${run.id}.`,
  }
}
