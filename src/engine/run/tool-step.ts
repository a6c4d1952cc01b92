// The calls of one answer. Each is prepared (checked, judged), then what may run runs: intent on disk, the call, its result on
// disk. What has to wait for a person or the client is handed back. A crash in between is told apart later by what is there.

import type { AuditRecord } from '../../domain/audit.ts'
import type { Clock } from '../../domain/clock.ts'
import type { Fact } from '../../domain/entry.ts'
import type { StoredMessage, ToolCall } from '../../domain/message.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { Wait } from '../../domain/wait.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { AgentTool, ServerTool, Tool, ToolOutcome } from '../../tools/tool.ts'
import { boundedResult } from './bounded-result.ts'
import { callTool } from './call-tool.ts'
import { type PreparedCall, prepareCall } from './prepare-call.ts'
import type { AgentParts, Lane, Pending, RunScope } from './run-scope.ts'
import type { CommitParts } from './run-writer.ts'
import { runSubagent } from './subagent.ts'

export interface StepEnd {
  /** What the run has to wait for; empty: go on. */
  pending: Pending[]
  /** The agent that answers from here on. */
  handedTo: AgentParts | null
}

export interface StepStart {
  /** Committed together with the intents, before anything runs. */
  facts?: Fact[]
  messages?: StoredMessage[]
  /** What the session has waited for, newest first. The calls are of an earlier run or process: some may have been answered. */
  waits?: readonly Wait[]
}

type Runnable = Extract<PreparedCall, { type: 'run' }>

/** One after the other, and everybody else has a turn in between: a stranger's schema may take its time, and a model may call it often. */
async function inTurn<T, R>(clock: Clock, items: readonly T[], task: (item: T) => Promise<R>): Promise<R[]> {
  const done: R[] = []
  for (const item of items) {
    if (done.length > 0) await new Promise<void>((resolve) => clock.soon(resolve))
    done.push(await task(item))
  }
  return done
}

/** Each result is committed as soon as it is there; resolves when nothing runs any more. */
export async function runToolCalls(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tools: ReadonlyMap<string, Tool>,
  calls: readonly ToolCall[],
  { facts = [], messages = [], waits = [] }: StepStart,
): Promise<StepEnd> {
  const { pen } = lane
  // An approval that no longer fits was asked for again: the newest counts.
  const waitOf = ({ id }: ToolCall): Wait | null => waits.find(({ callId }) => callId === id) ?? null
  const preparing = inTurn(scope.clock, calls, (call) => prepareCall(scope, lane, agent, tools, call, waitOf(call)))
  const prepared = await preparing.catch(async (error: unknown) => {
    // What was said is kept, though nothing comes of it.
    if (messages.length > 0) await pen.commit({ facts, messages })
    throw error
  })
  const parallel = Math.min(agent.definition.limits.parallelCalls, prepared.length)
  const running = prepared.filter((one): one is Runnable => one.type === 'run')
  // Those that begin at once share a commit. The others write theirs when their turn comes: what has no intent has not begun.
  const first = running.slice(0, parallel)
  const intended = new Set<PreparedCall>(first)
  const { intents, ...parts } = beginning(scope, lane, agent, first)
  if (facts.length > 0 || messages.length > 0 || intents.length > 0 || parts.consume !== undefined) {
    await pen.commit({ facts: [...facts, ...intents], messages, ...parts })
  }

  const pending: Pending[] = []
  let handedTo: AgentParts | null = null
  const waiting = [...prepared]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined && !scope.signal.aborted; next = waiting.shift()) {
      try {
        if (next.type === 'run' && !intended.has(next)) {
          const { intents: facts, ...more } = beginning(scope, lane, agent, [next])
          if (facts.length > 0 || more.consume !== undefined) await pen.commit({ facts, ...more })
        }
        const end = await carryOut(scope, lane, agent, next)
        pending.push(...end.pending)
        handedTo = end.handedTo ?? handedTo
      } catch (error) {
        // The run ends here: what has not begun must not begin any more.
        waiting.length = 0
        throw error
      }
    }
  }
  // All must have stopped before the run goes on or ends: none may write behind its back.
  const done = await Promise.allSettled(Array.from({ length: parallel }, work))
  const failed = done.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  scope.signal.throwIfAborted()
  return { pending, handedTo }
}

/** What is on disk before these calls begin. An agent that is called has no intent: what it did is in its messages. */
function beginning(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  calls: readonly Runnable[],
): Pick<CommitParts, 'consume' | 'audit'> & { intents: Fact[] } {
  const at = lane.pen.timestamp()
  const onServer = calls.filter(({ tool }) => tool.location === 'server')
  const sideEffects = onServer.filter(({ tool }) => tool.effect !== 'read')
  const consume = calls.flatMap(({ approval }) =>
    approval === null ? [] : [{ waitId: approval.id, digest: approval.digest, at }],
  )
  return {
    intents: onServer.map((one) => intentOf(scope, lane, one, at)),
    ...(consume.length === 0 ? {} : { consume }),
    ...(sideEffects.length === 0 ? {} : { audit: sideEffects.map((one) => startedRecord(scope, agent, one, at)) }),
  }
}

async function carryOut(scope: RunScope, lane: Lane, agent: AgentParts, prepared: PreparedCall): Promise<StepEnd> {
  const { call } = prepared
  switch (prepared.type) {
    case 'wait':
      return {
        pending: [{ wait: prepared.wait, isNew: prepared.isNew, subagentRunId: lane.subagentRunId }],
        handedTo: null,
      }
    case 'refused':
      if (!scope.signal.aborted) {
        await commitResult(
          scope,
          lane,
          agent,
          call,
          { content: prepared.reason, isError: true },
          { durationMs: 0, isRefused: true },
        )
      }
      return nothingLeft
    case 'run':
      return prepared.tool.location === 'server'
        ? runServerTool(scope, lane, agent, { ...prepared, tool: prepared.tool })
        : runAgentTool(scope, lane, agent, { ...prepared, tool: prepared.tool })
    default:
      return unreachable(prepared)
  }
}

const nothingLeft: StepEnd = { pending: [], handedTo: null }

async function runServerTool(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  prepared: Runnable & { tool: ServerTool },
): Promise<StepEnd> {
  const began = scope.clock.mono()
  const outcome = await callTool(scope, lane, agent, prepared.tool, prepared.call, prepared.arguments)
  const durationMs = Math.round(scope.clock.mono() - began)
  if (scope.signal.aborted) {
    logCall(scope, agent, prepared.call, 'stopped', durationMs)
    return nothingLeft
  }
  if (outcome.usage !== undefined) scope.usage.addAll(outcome.usage)
  const audit =
    prepared.tool.effect === 'read' ? undefined : finishedRecord(scope, agent, prepared, outcome, durationMs)
  await commitResult(scope, lane, agent, prepared.call, noted(outcome, prepared), {
    durationMs,
    ...(audit === undefined ? {} : { audit }),
  })
  return nothingLeft
}

/** The model must know when something else ran than it asked for. */
function noted(outcome: ToolOutcome, { approval, arguments: args }: Runnable): ToolOutcome {
  if (approval?.editedArguments == null) return outcome
  const note = `(A person changed the arguments of this call to ${JSON.stringify(args)}.)`
  return { ...outcome, content: `${note}\n${outcome.content}` }
}

async function runAgentTool(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  { tool, call, arguments: args }: Runnable & { tool: AgentTool },
): Promise<StepEnd> {
  const other = scope.agents.get(tool.agent)
  const began = scope.clock.mono()
  const durationMs = () => Math.round(scope.clock.mono() - began)
  if (other === undefined) {
    const content = `The agent ${tool.agent} is no longer served here.`
    await commitResult(scope, lane, agent, call, { content, isError: true }, { durationMs: 0 })
    return nothingLeft
  }
  if (tool.handoff && lane.id !== null) {
    const content = 'Only the agent that talks to the user can hand the conversation on. Answer yourself.'
    await commitResult(scope, lane, agent, call, { content, isError: true }, { durationMs: 0 })
    return nothingLeft
  }
  if (tool.handoff) {
    const content = `${tool.agent} has the conversation now and answers the user.`
    const activeAgent = other === scope.root ? null : tool.agent
    const fact: Fact = { fact: 'handed_over', run: scope.run.id, to: tool.agent, at: lane.pen.timestamp() }
    const outcome = { content, isError: false }
    await commitResult(scope, lane, agent, call, outcome, { durationMs: durationMs(), activeAgent, facts: [fact] })
    return { pending: [], handedTo: other }
  }
  const end = await runSubagent(scope, lane, other, call, args)
  if (scope.signal.aborted) {
    logCall(scope, agent, call, 'stopped', durationMs())
    return nothingLeft
  }
  if (end.type === 'waiting') return { pending: end.pending, handedTo: null }
  await commitResult(scope, lane, agent, call, end.outcome, { durationMs: durationMs() })
  return nothingLeft
}

interface ResultMore {
  durationMs: number
  /** It was never made. */
  isRefused?: boolean
  activeAgent?: string | null
  facts?: Fact[]
  audit?: AuditRecord
}

async function commitResult(
  scope: RunScope,
  { pen, id: lane }: Lane,
  agent: AgentParts,
  call: ToolCall,
  outcome: ToolOutcome,
  { durationMs, isRefused = false, facts, audit, activeAgent }: ResultMore,
): Promise<void> {
  logCall(scope, agent, call, isRefused ? 'refused' : outcome.isError ? 'failed' : 'completed', durationMs)
  const messageId = scope.ids.uuid()
  const createdAt = pen.timestamp()
  const metadata = { quarterdeck: { status: outcome.isError ? 'error' : 'success', durationMs } }
  const whole = boundedResult(outcome.content, agent.definition.limits.toolResultChars, outcome.isCut)
  const shown = pen.emit({
    type: 'TOOL_CALL_RESULT',
    messageId,
    toolCallId: call.id,
    content: whole,
    role: 'tool',
    metadata,
    timestamp: createdAt,
  })
  const content = typeof shown?.content === 'string' ? shown.content : whole
  const message: StoredMessage = {
    id: messageId,
    role: 'tool',
    content,
    toolCallId: call.id,
    runId: scope.run.id,
    createdAt,
    metadata,
    ...(outcome.isError ? { error: content } : {}),
    ...(lane === null ? {} : { lane }),
  }
  await pen.commit({
    messages: [message],
    lastTool: call.function.name,
    ...(facts === undefined ? {} : { facts }),
    ...(audit === undefined ? {} : { audit: [audit] }),
    ...(activeAgent === undefined ? {} : { activeAgent }),
  })
}

/** One line for each call, without what it was about. */
function logCall(
  { log, called }: RunScope,
  agent: AgentParts,
  call: ToolCall,
  outcome: 'completed' | 'failed' | 'refused' | 'stopped',
  durationMs: number,
): void {
  const { name: tool } = call.function
  called.push(tool)
  log.info('tool call', { agent: agent.definition.name, tool, call_id: call.id, latency_ms: durationMs, outcome })
}

const MOST_WAITS = 1_000

/** Newest first. */
export const readWaits = ({ store, run }: RunScope): Promise<Wait[]> =>
  store.waits.list({ sessionId: run.sessionId, limit: MOST_WAITS })

const intentOf = ({ run }: RunScope, { id: lane }: Lane, { call, tool, approval }: Runnable, at: number): Fact => ({
  fact: 'tool_intent',
  run: run.id,
  call: call.id,
  tool: tool.name,
  effect: tool.effect,
  binding: tool.binding,
  ...(approval === null ? {} : { approval: approval.id }),
  ...(lane === null ? {} : { lane }),
  at,
})

function startedRecord({ run }: RunScope, agent: AgentParts, prepared: Runnable, at: number): AuditRecord {
  const { call, tool, approval, grant } = prepared
  return {
    at,
    kind: 'call_started',
    by: agent.definition.name,
    session: run.sessionId,
    run: run.id,
    agent: agent.definition.name,
    tool: tool.name,
    call: call.id,
    details: {
      effect: tool.effect,
      risk: tool.risk,
      arguments_sha256: sha256(canonicalJson(prepared.arguments)),
      approval: approval?.id ?? null,
      grant,
    },
  }
}

function finishedRecord(
  scope: RunScope,
  agent: AgentParts,
  prepared: Runnable,
  outcome: ToolOutcome,
  durationMs: number,
): AuditRecord {
  const status = outcome.isError ? 'error' : 'success'
  // Of what is kept of it: a tool may give back more than can be hashed in between.
  const kept = outcome.content.slice(0, agent.definition.limits.toolResultChars)
  return {
    ...startedRecord(scope, agent, prepared, scope.writer.timestamp()),
    kind: 'call_finished',
    details: { status, duration_ms: durationMs, result_sha256: sha256(kept) },
  }
}
