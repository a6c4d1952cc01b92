// A sub-agent that is called like a tool. It has a conversation of its own inside the run, and its messages are in the log. So it
// goes on where it was after a crash or a person's answer, as the run itself does.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import { type ToolCall, textOf } from '../../domain/session/message.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import type { Lane, ModelParts, Pending } from '../run/run-scope.ts'
import { agentStarted, stopOf } from '../run/run-scope.ts'
import { BROKEN_OFF } from '../run/run-writer.ts'
import { type LoopEnd, runAgent } from './agent-loop.ts'
import { createBudget } from './budget.ts'
import { errorTypeOf, StepBroken } from './model-step.ts'

export type SubagentEnd = { type: 'answered'; outcome: ToolOutcome } | { type: 'waiting'; pending: Pending[] }

/** Agents can call agents that call agents, but not without end. */
const MAX_DEPTH = 5

/** Throws only what ends the whole run. A failure of the sub-agent itself is an outcome. */
export async function runSubagent(
  parent: Lane,
  agent: ModelParts,
  call: ToolCall,
  args: Record<string, unknown>,
): Promise<SubagentEnd> {
  if (parent.depth >= MAX_DEPTH) {
    return failed(`Agents may call each other ${MAX_DEPTH} levels deep. Answer without ${agent.definition.name}.`)
  }
  const { scope } = parent
  const { run, writer, ids, store } = scope
  const [last] = await store.messages.ofLane(run.sessionId, call.id, 1)
  // It had answered before the process died.
  if (last?.role === 'assistant' && last.toolCalls === undefined && last.brokenOff !== true) {
    return { type: 'answered', outcome: { content: textOf(last.content), isError: false } }
  }
  const subagentRunId = ids.uuid()
  const own = writer.forSubagent(subagentRunId)
  const span = parent.span.subagent(agentStarted(agent))
  const budget = createBudget(agent.definition.limits, scope.prices.atMost, scope.budget, scope.usage.total)
  const lane = { scope, agent, budget, id: call.id, subagentRunId, writer: own, span, depth: parent.depth + 1 }
  announce(lane, parent)
  // If the process dies in the sub-agent, the log must show that it had begun.
  await (last === undefined ? askQuestion(lane, args) : writer.flush())
  try {
    const end = await finish(lane, await runAgent(lane))
    span.end({ outcome: end.type === 'waiting' ? 'waiting' : 'completed' })
    return end
  } catch (error) {
    span.end(scope.signal.aborted ? { outcome: 'stopped' } : { outcome: 'failed', error: errorTypeOf(error) })
    return await afterFailure(lane, error)
  }
}

/** The conversation of a sub-agent. */
type SubagentLane = Lane & { id: string; subagentRunId: string }

function announce(lane: SubagentLane, parent: Lane): void {
  const { writer } = lane.scope
  const { name, description } = lane.agent.definition
  writer.emit({
    type: 'SUBAGENT_STARTED',
    subagentRunId: lane.subagentRunId,
    name,
    ...present({ description: description || undefined, parentSubagentRunId: parent.subagentRunId ?? undefined }),
    parentToolCallId: lane.id,
    timestamp: writer.timestamp(),
  })
}

/** The caller's arguments become the first message of the conversation. */
async function askQuestion(lane: SubagentLane, args: Record<string, unknown>): Promise<void> {
  const { run, writer } = lane.scope
  const question = {
    id: `${lane.id}_question`,
    role: 'user' as const,
    content: typeof args.message === 'string' ? args.message : JSON.stringify(args),
    runId: run.id,
    createdAt: writer.timestamp(),
    lane: lane.id,
  }
  await writer.commit({ messages: [question] })
}

async function finish({ scope: { writer }, subagentRunId }: SubagentLane, end: LoopEnd): Promise<SubagentEnd> {
  const type = 'SUBAGENT_FINISHED'
  if (end.type === 'waiting') {
    const interruptIds = end.pending.flatMap(({ wait }) => (wait.wait === 'approval' ? [wait.id] : []))
    const outcome = {
      type: 'suspended' as const,
      ...present({ interruptIds: interruptIds.length === 0 ? undefined : interruptIds }),
    }
    writer.emit({ type, subagentRunId, outcome, timestamp: writer.timestamp() })
    return { type: 'waiting', pending: end.pending }
  }
  await writer.commit({ messages: end.answer.messages })
  writer.emit({ type, subagentRunId, outcome: { type: 'success' }, timestamp: writer.timestamp() })
  return { type: 'answered', outcome: { content: end.answer.text, isError: false } }
}

async function afterFailure(lane: SubagentLane, error: unknown): Promise<SubagentEnd> {
  const { scope, writer: own, subagentRunId } = lane
  const { writer, signal } = scope
  const messages = error instanceof StepBroken ? error.messages : []
  const cause = error instanceof StepBroken ? error.cause : error
  if (signal.aborted || scope.budget.isSpent || !(cause instanceof ServerError) || !isOwnFailure(cause)) {
    // Several sub-agents may stop together, and the run ends with the error of one of them, so each stores its own messages. If
    // that fails, the end of the run stores them. A run that goes on elsewhere is recovered from what the log has.
    const stop = stopOf(signal)?.kind
    const goesOn = stop === 'suspended' || stop === 'lost'
    if (error instanceof StepBroken && !goesOn) await writer.commit({ messages }).catch(() => {})
    throw error
  }
  for (const event of writer.open.closing(writer.timestamp(), BROKEN_OFF, subagentRunId)) own.emit(event)
  if (error instanceof StepBroken) await writer.commit({ messages })
  const { message, code } = cause
  writer.emit({ type: 'SUBAGENT_ERROR', subagentRunId, message, code, timestamp: writer.timestamp() })
  return failed(`${lane.agent.definition.name} could not answer: ${message}`)
}

/** Its model failed, or it reached its own limits. A failure of the store, for example, ends the whole run. */
const isOwnFailure = ({ code }: ServerError): boolean =>
  code.startsWith('model_') || code === 'budget_exceeded' || code === 'invalid_answer'

const failed = (content: string): SubagentEnd => ({ type: 'answered', outcome: { content, isError: true } })
