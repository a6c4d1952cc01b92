// A sub-agent that is called like a tool: a conversation of its own inside the run, with its own messages in the log. So it goes
// on where it was, after a crash and after a person's answer, like the run itself.

import { ServerError } from '../../domain/errors.ts'
import { type ToolCall, textOf } from '../../domain/message.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import { runAgent } from './agent-loop.ts'
import { createBudget } from './budget.ts'
import { StepBroken } from './model-step.ts'
import type { AgentParts, Lane, Pending, RunScope } from './run-scope.ts'
import { BROKEN_OFF } from './run-writer.ts'
import { stopOf } from './stop.ts'

export type SubagentEnd = { type: 'answered'; outcome: ToolOutcome } | { type: 'waiting'; pending: Pending[] }

/** Agents that call agents that call agents: somewhere it must end. */
const MAX_DEPTH = 5

export async function runSubagent(
  scope: RunScope,
  parent: Lane,
  agent: AgentParts,
  call: ToolCall,
  args: Record<string, unknown>,
): Promise<SubagentEnd> {
  if (parent.depth >= MAX_DEPTH) {
    return failed(`Agents may call each other ${MAX_DEPTH} levels deep. Answer without ${agent.definition.name}.`)
  }
  const { run, writer, ids, store } = scope
  const { name, description } = agent.definition
  const subagentRunId = ids.uuid()
  const lane: Lane = { id: call.id, subagentRunId, pen: writer.forSubagent(subagentRunId), depth: parent.depth + 1 }
  const [last] = await store.messages.ofLane(run.sessionId, call.id, 1)
  // It had answered when the process died.
  if (last?.role === 'assistant' && last.toolCalls === undefined && last.brokenOff !== true) {
    return { type: 'answered', outcome: { content: textOf(last.content), isError: false } }
  }
  const timestamp = () => writer.timestamp()
  writer.emit({
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name,
    ...(description === '' ? {} : { description }),
    ...(parent.subagentRunId === null ? {} : { parentSubagentRunId: parent.subagentRunId }),
    parentToolCallId: call.id,
    timestamp: timestamp(),
  })
  if (last === undefined) {
    const question = {
      id: `${call.id}_question`,
      role: 'user' as const,
      content: typeof args.message === 'string' ? args.message : JSON.stringify(args),
      runId: run.id,
      createdAt: timestamp(),
      lane: call.id,
    }
    await writer.commit({ messages: [question] })
  } else {
    // If the process dies in it again, the log says in whose work.
    await writer.flush()
  }
  try {
    const budget = createBudget(agent.definition.limits, scope.prices.atMost, scope.budget, scope.usage.total)
    const end = await runAgent(scope, lane, agent, budget)
    if (end.type === 'waiting') {
      const interruptIds = end.pending.flatMap(({ wait }) => (wait.wait === 'approval' ? [wait.id] : []))
      writer.emit({
        type: 'SUBAGENT_FINISHED',
        subagentRunId,
        outcome: { type: 'suspended', ...(interruptIds.length === 0 ? {} : { interruptIds }) },
        timestamp: timestamp(),
      })
      return end
    }
    await writer.commit({ messages: end.answer.messages })
    writer.emit({ type: 'SUBAGENT_FINISHED', subagentRunId, outcome: { type: 'success' }, timestamp: timestamp() })
    return { type: 'answered', outcome: { content: end.answer.text, isError: false } }
  } catch (error) {
    const cause = error instanceof StepBroken ? error.cause : error
    // The whole run was stopped, has spent its budget, or cannot write: that is not the sub-agent's failure.
    if (scope.signal.aborted || scope.budget.isSpent || !(cause instanceof ServerError) || !isOwnFailure(cause)) {
      // Several may break off together, and the run ends with the error of one of them. What cannot be written now goes with
      // the end of the run.
      const isLater = stopOf(scope.signal)?.kind === 'suspended'
      if (error instanceof StepBroken && !isLater) await writer.commit({ messages: error.messages }).catch(() => {})
      throw error
    }
    for (const event of writer.open.closing(timestamp(), BROKEN_OFF, subagentRunId)) lane.pen.emit(event)
    if (error instanceof StepBroken) await writer.commit({ messages: error.messages })
    writer.emit({
      type: 'SUBAGENT_ERROR',
      subagentRunId,
      message: cause.message,
      code: cause.code,
      timestamp: timestamp(),
    })
    return failed(`${name} could not answer: ${cause.message}`)
  }
}

/** Its model failed or its own limits ended it. What fails the store fails the run. */
const isOwnFailure = ({ code }: ServerError): boolean =>
  code.startsWith('model_') || code === 'budget_exceeded' || code === 'invalid_answer'

const failed = (content: string): SubagentEnd => ({ type: 'answered', outcome: { content, isError: true } })
