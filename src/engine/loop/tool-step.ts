// The calls of one answer. All are prepared first (checked, and judged by the gate). Then those that may run do so: intent on
// disk, call, result on disk. Those that have to wait for a person or for the client are returned.

import type { ToolQuestion } from '../../domain/agent/question.ts'
import type { AnyRecord } from '../../domain/records/record.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { ToolCall } from '../../domain/session/message.ts'
import type { ToolCallEnded } from '../../domain/telemetry.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { AgentTool, ServerTool, Tool, ToolOutcome } from '../../tools/tool.ts'
import type { Lane, ModelParts, Pending, RunScope } from '../run/run-scope.ts'
import {
  commitBeginning,
  commitResult,
  commitSuspension,
  finishedRecord,
  isRevoked,
  logCall,
  type ResultMore,
  type Said,
} from './call-records.ts'
import { callTool } from './call-tool.ts'
import { gatedCall, type PreparedCall, prepareCall, type RunnableCall } from './prepare-call.ts'
import { runSubagent } from './subagent.ts'

export interface StepEnd {
  /** What the run has to wait for. Empty: it goes on. */
  pending: Pending[]
  /** The agent that has the conversation from here on, if it was handed over. */
  handedTo: ModelParts | null
}

export const nothingLeft: StepEnd = { pending: [], handedTo: null }

export interface StepStart extends Said {
  /** What the session has waited for, newest first. Given when the calls are those of an earlier run or process. */
  waits?: readonly AnyRecord[]
}

/** Each result is committed as soon as it is there. Resolves when no call runs any more. */
export async function runToolCalls(
  lane: Lane,
  tools: ReadonlyMap<string, Tool>,
  calls: readonly ToolCall[],
  { waits = [], ...said }: StepStart,
): Promise<StepEnd> {
  /** One after the other, and other work gets a turn in between: a stranger's schema may take long to check. */
  async function prepare(some: readonly ToolCall[]): Promise<PreparedCall[]> {
    const prepared: PreparedCall[] = []
    for (const call of some) {
      if (prepared.length > 0) await new Promise<void>((resolve) => lane.scope.clock.soon(resolve))
      const ofCall = waits.filter(({ callId }) => callId === call.id)
      prepared.push(await prepareCall(lane, tools, call, ofCall))
    }
    return prepared
  }
  const prepared = await prepare(calls).catch(async (error: unknown) => {
    // The answer is kept, although none of its calls runs.
    if (said.messages !== undefined) await lane.writer.commit(said)
    throw error
  })
  const parallel = Math.min(lane.agent.definition.limits.parallelCalls, prepared.length)
  // The calls that begin at once share a commit. Each of the others writes its intent when its turn comes.
  const first = prepared.filter((one): one is RunnableCall => one.type === 'run').slice(0, parallel)
  const begun = new Set<PreparedCall>(first)
  try {
    await commitBeginning(lane, first, said)
  } catch (error) {
    if (!isRevoked(error)) throw error
    // Now each of them begins by itself. The writer has kept the messages.
    begun.clear()
    if (said.messages !== undefined || said.facts !== undefined) await lane.writer.commit({ facts: said.facts ?? [] })
  }
  return carryOutAll(lane, prepared, { begun, parallel, prepare })
}

interface Together {
  /** The calls whose intents are on disk. */
  begun: ReadonlySet<PreparedCall>
  parallel: number
  prepare(calls: readonly ToolCall[]): Promise<PreparedCall[]>
}

async function carryOutAll(
  lane: Lane,
  calls: readonly PreparedCall[],
  { begun, parallel, prepare }: Together,
): Promise<StepEnd> {
  const { signal } = lane.scope
  const pending: Pending[] = []
  let handedTo: ModelParts | null = null
  const queue = [...calls]
  /** Judges the call again if it may no longer run. */
  async function begin(call: PreparedCall): Promise<PreparedCall> {
    if (call.type !== 'run' || begun.has(call)) return call
    try {
      await commitBeginning(lane, [call])
      return call
    } catch (error) {
      if (!isRevoked(error)) throw error
      const [again = call] = await prepare([call.call])
      return begin(again)
    }
  }
  async function work(): Promise<void> {
    for (let next = queue.shift(); next !== undefined && !signal.aborted; next = queue.shift()) {
      try {
        const end = await carryOut(lane, await begin(next))
        pending.push(...end.pending)
        handedTo = end.handedTo ?? handedTo
      } catch (error) {
        // The run ends here, so no other call may begin.
        queue.length = 0
        throw error
      }
    }
  }
  // All must have stopped before the run goes on or ends, so that none writes afterwards.
  const done = await Promise.allSettled(Array.from({ length: parallel }, work))
  const failed = done.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  signal.throwIfAborted()
  return { pending, handedTo }
}

async function carryOut(lane: Lane, prepared: PreparedCall): Promise<StepEnd> {
  const { scope } = lane
  switch (prepared.type) {
    case 'wait': {
      const { wait, isNew } = prepared
      return { pending: [{ wait, isNew, subagentRunId: lane.subagentRunId }], handedTo: null }
    }
    case 'refused': {
      if (scope.signal.aborted) return nothingLeft
      const outcome = { content: prepared.reason, isError: true }
      const durationMs = Math.max(0, prepared.waitedMs ?? 0)
      await commitResult(lane, prepared.call, outcome, { durationMs, isRefused: true })
      return nothingLeft
    }
    case 'answered': {
      if (scope.signal.aborted) return nothingLeft
      const outcome = { content: prepared.content, isError: false }
      await commitResult(lane, prepared.call, outcome, { durationMs: 0, isByPerson: true })
      return nothingLeft
    }
    case 'run':
      return prepared.tool.location === 'server'
        ? runServerTool(lane, { ...prepared, tool: prepared.tool })
        : runAgentTool(lane, { ...prepared, tool: prepared.tool })
    default:
      return unreachable(prepared)
  }
}

async function runServerTool(lane: Lane, prepared: RunnableCall & { tool: ServerTool }): Promise<StepEnd> {
  const { scope } = lane
  const { tool, call } = prepared
  // The run was told to stop while the beginning of the call was stored. Nothing may take effect after that.
  if (scope.signal.aborted) {
    logCall(lane, call, 'stopped', 0)
    return nothingLeft
  }
  const began = scope.clock.mono()
  const { name, description } = tool
  const span = lane.span.tool({ tool: name, description, callId: call.id, arguments: prepared.arguments })
  const { outcome, shown } = await callTool(lane, prepared, span.trace)
  const durationMs = Math.round(scope.clock.mono() - began)
  span.end({ outcome: endOf(scope, outcome), result: outcome.content })
  if (scope.signal.aborted) {
    logCall(lane, call, 'stopped', durationMs)
    return nothingLeft
  }
  if (outcome.usage !== undefined) scope.usage.addAll(outcome.usage)
  if (outcome.question !== undefined && prepared.answers.length < MOST_QUESTIONS) {
    return suspendCall(lane, prepared, outcome.question, durationMs)
  }
  const result = outcome.question === undefined ? withEditNote(outcome, prepared) : tooManyQuestions
  if (typeof tool.app?.resourceUri === 'string') {
    const { appActivity } = await import('../apps/app-activity.ts')
    const called = { callId: call.id, agent: lane.agent.definition.name, input: prepared.arguments }
    const app = appActivity(tool, called, result)
    if (app !== null) lane.writer.emit({ ...app, timestamp: lane.writer.timestamp() })
  }
  await commitResult(lane, call, result, {
    durationMs,
    shown,
    audit: tool.effect === 'read' ? undefined : finishedRecord(lane, prepared, result, durationMs),
  })
  scope.inFlight.delete(call.id)
  return nothingLeft
}

function endOf({ signal }: RunScope, { question, isError }: ToolOutcome): ToolCallEnded['outcome'] {
  if (signal.aborted) return 'stopped'
  if (question !== undefined) return 'suspended'
  return isError ? 'failed' : 'completed'
}

/** More questions than anybody answers for one call. A tool that asks without end must not keep people busy for ever. */
const MOST_QUESTIONS = 50
const tooManyQuestions: ToolOutcome = {
  content: `The tool asked more than ${MOST_QUESTIONS} questions, so the call was ended.`,
  isError: true,
}

/** The tool has asked a person. What it has done so far is done; the answer brings it back here. */
async function suspendCall(
  lane: Lane,
  prepared: RunnableCall,
  question: ToolQuestion,
  durationMs: number,
): Promise<StepEnd> {
  const asked = { ...question, index: prepared.answers.length, effect: prepared.tool.effect }
  const wait = await lane.scope.gate.question(gatedCall(lane, prepared), asked)
  await commitSuspension(lane, prepared)
  logCall(lane, prepared.call, 'suspended', durationMs)
  return { pending: [{ wait, isNew: true, subagentRunId: lane.subagentRunId }], handedTo: null }
}

/** The model must know that the arguments were not the ones it wrote. */
function withEditNote(outcome: ToolOutcome, { before: { asked }, arguments: args }: RunnableCall): ToolOutcome {
  if (asked === null || asked.editedArguments === null) return outcome
  const note = `(A person changed the arguments of this call to ${JSON.stringify(args)}.)`
  return { ...outcome, content: `${note}\n${outcome.content}` }
}

async function runAgentTool(
  lane: Lane,
  { tool, call, arguments: args }: RunnableCall & { tool: AgentTool },
): Promise<StepEnd> {
  const { scope } = lane
  const began = scope.clock.mono()
  const durationMs = () => Math.round(scope.clock.mono() - began)
  const result = (content: string, isError: boolean, more: ResultMore) =>
    commitResult(lane, call, { content, isError }, more)

  const other = scope.agents.get(tool.agent)
  // No agent file may name a hosted agent, but it may have become one since the call was made.
  if (other === undefined || other.host !== null) {
    await result(`The agent ${tool.agent} is no longer served here.`, true, { durationMs: 0 })
    return nothingLeft
  }
  if (tool.handoff && lane.id !== null) {
    const content = 'Only the agent that talks to the user can hand the conversation on. Answer yourself.'
    await result(content, true, { durationMs: 0 })
    return nothingLeft
  }
  if (tool.handoff) {
    const content = `${tool.agent} has the conversation now and answers the user.`
    const activeAgent = other === scope.root ? null : tool.agent
    const fact: Fact = { fact: 'handed_over', run: scope.run.id, to: tool.agent, at: lane.writer.timestamp() }
    await result(content, false, { durationMs: durationMs(), activeAgent, facts: [fact] })
    return { pending: [], handedTo: other }
  }
  const end = await runSubagent(lane, other, call, args)
  if (scope.signal.aborted) {
    logCall(lane, call, 'stopped', durationMs())
    return nothingLeft
  }
  if (end.type === 'waiting') return { pending: end.pending, handedTo: null }
  await commitResult(lane, call, end.outcome, { durationMs: durationMs() })
  return nothingLeft
}
