// What a call leaves behind: its intent on disk before it begins, its result after it has ended, and a line in the server's log.
// After a crash these tell whether a call had begun and whether it had ended.

import { hasCode } from '../../domain/errors.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { StoredMessage, ToolCall } from '../../domain/session/message.ts'
import type { Shown } from '../../domain/session/source.ts'
import type { AuditRecord } from '../../domain/supervision/audit.ts'
import { canonicalJson, sha256 } from '../../json/digest.ts'
import type { ToolOutcome } from '../../tools/tool.ts'
import type { AgentParts, Lane, RunScope } from '../run/run-scope.ts'
import type { EventWriter } from '../run/run-writer.ts'
import type { RunnableCall } from './prepare-call.ts'

/** What the model said in this step. It is committed together with the intents of the first calls. */
export interface Said {
  facts?: Fact[]
  messages?: StoredMessage[]
}

/** Must be awaited before any of these calls begins. Throws `isRevoked` if one of them is no longer allowed. */
export async function commitBeginning(
  lane: Lane,
  calls: readonly RunnableCall[],
  { facts = [], messages = [] }: Said = {},
): Promise<void> {
  const at = lane.writer.timestamp()
  // An agent that is called has no intent: what it did is in its own messages.
  const onServer = calls.filter(({ tool }) => tool.location === 'server')
  const intents = onServer.map((call) => intentOf(lane, call, at))
  const consume = calls.flatMap(({ approval }) =>
    approval === null ? [] : [{ waitId: approval.id, digest: approval.digest, at }],
  )
  const grants = calls.flatMap(({ grant }) => grant ?? [])
  const audit = onServer.flatMap((call) => (call.tool.effect === 'read' ? [] : [startedRecord(lane, call, at)]))
  if (facts.length + messages.length + intents.length + consume.length + grants.length === 0) return
  await lane.writer.commit({
    facts: [...facts, ...intents],
    messages,
    consume: consume.length === 0 ? undefined : consume,
    grants: grants.length === 0 ? undefined : grants,
    audit: audit.length === 0 ? undefined : audit,
  })
  // From here on the trail says that they have begun. If the run stops now, it has to say how they ended.
  for (const one of onServer) {
    if (one.tool.effect !== 'read') lane.scope.inFlight.set(one.call.id, stoppedRecord(lane, one))
  }
}

/** The grant by which a call was to run is gone: the call has to be judged again. */
export const isRevoked = (error: unknown): boolean => hasCode(error, 'conflict') && error.details.grant !== undefined

export interface ResultMore {
  durationMs: number
  /** The call was not made. */
  isRefused?: boolean
  /** A person gave the result. */
  isByPerson?: boolean
  activeAgent?: string | null
  /** The passages in it, each with its number. */
  shown?: readonly Shown[]
  facts?: Fact[]
  /** Stored before it, in the same commit. */
  messages?: StoredMessage[]
  audit?: AuditRecord | undefined
}

/** Shows the result and stores it, both in one commit. */
export async function commitResult(
  lane: Lane<AgentParts>,
  call: ToolCall,
  outcome: ToolOutcome,
  {
    durationMs,
    isRefused = false,
    isByPerson = false,
    facts,
    messages = [],
    audit,
    activeAgent,
    shown = [],
  }: ResultMore,
): Promise<void> {
  const ended = isRefused ? 'refused' : isByPerson ? 'answered' : outcome.isError ? 'failed' : 'completed'
  logCall(lane, call, ended, durationMs)
  const status = outcome.isError ? 'error' : 'success'
  const answeredBy = isByPerson ? 'person' : undefined
  const metadata = { quarterdeck: { status, durationMs, answeredBy, shown: shown.length === 0 ? undefined : shown } }
  const whole = boundedResult(outcome.content, lane.agent.definition.limits.toolResultChars, outcome.isCut)
  const message = { ...showResult(lane.scope, lane.writer, call, whole, metadata), lane: lane.id ?? undefined }
  await lane.writer.commit({
    messages: [...messages, outcome.isError ? { ...message, error: message.content } : message],
    lastTool: call.function.name,
    facts,
    audit: audit && [audit],
    activeAgent,
  })
}

/** Shows a result and returns the message to store: it holds what was shown, also where the middleware changed it. */
export function showResult(
  { run, ids }: Pick<RunScope, 'run' | 'ids'>,
  writer: EventWriter,
  { id: toolCallId }: ToolCall,
  whole: string,
  metadata: Record<string, unknown>,
) {
  const id = ids.uuid()
  const createdAt = writer.timestamp()
  const result = { messageId: id, toolCallId, content: whole, role: 'tool', metadata, timestamp: createdAt } as const
  const shown = writer.emit({ type: 'TOOL_CALL_RESULT', ...result })
  const content = typeof shown?.content === 'string' ? shown.content : whole
  return {
    ...{ id, role: 'tool' as const, content, toolCallId, runId: run.id, createdAt },
    metadata: shown?.metadata ?? metadata,
  }
}

/** After a crash, the log must show that the call waits for a person and was not cut off. */
export async function commitSuspension({ scope: { run }, writer, id }: Lane, { call }: RunnableCall): Promise<void> {
  const lane = id ?? undefined
  const fact: Fact = { fact: 'tool_suspended', run: run.id, call: call.id, lane, at: writer.timestamp() }
  await writer.commit({ facts: [fact] })
}

/** One line for each call, without its arguments or its result. */
export function logCall(
  { scope: { log, called }, agent }: Lane<AgentParts>,
  call: ToolCall,
  outcome: 'completed' | 'failed' | 'refused' | 'answered' | 'suspended' | 'stopped',
  durationMs: number,
): void {
  const { name: tool } = call.function
  called.push(tool)
  log.info('tool call', { agent: agent.definition.name, tool, call_id: call.id, latency_ms: durationMs, outcome })
}

const intentOf = ({ scope: { run }, id: lane }: Lane, { call, tool, approval }: RunnableCall, at: number): Fact => ({
  fact: 'tool_intent',
  run: run.id,
  call: call.id,
  tool: tool.name,
  effect: tool.effect,
  binding: tool.binding,
  approval: approval?.id,
  lane: lane ?? undefined,
  at,
})

function startedRecord({ scope: { run }, agent }: Lane, prepared: RunnableCall, at: number): AuditRecord {
  const { call, tool, approval, grant, answers } = prepared
  return {
    at,
    // It began when it asked its first question. It must not count twice.
    kind: answers.length === 0 ? 'call_started' : 'call_resumed',
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

export function finishedRecord(
  lane: Lane,
  prepared: RunnableCall,
  outcome: ToolOutcome,
  durationMs: number,
): AuditRecord {
  const status = outcome.isError ? 'error' : 'success'
  // Only what is kept of the result is hashed: hashing all of a very long one would block the event loop.
  const kept = outcome.content.slice(0, lane.agent.definition.limits.toolResultChars)
  return {
    ...startedRecord(lane, prepared, lane.writer.timestamp()),
    kind: 'call_finished',
    details: { status, duration_ms: durationMs, result_sha256: sha256(kept) },
  }
}

/** For a call whose run is stopped before there is a result. Nobody knows how far it came. */
const stoppedRecord = (lane: Lane, prepared: RunnableCall): AuditRecord => ({
  ...startedRecord(lane, prepared, lane.writer.timestamp()),
  kind: 'call_finished',
  details: { status: 'stopped', approval: prepared.before.asked?.id ?? prepared.approval?.id ?? null },
})

/**
 * A tool's result as it is stored and as the model sees it. A longer one is cut and says so. `isCut`: the tool has cut it already.
 * Half a character at the cut becomes U+FFFD, because models refuse every request with one in its history.
 */
export function boundedResult(content: string, limit: number, isCut = false): string {
  const whole = content.slice(0, limit).toWellFormed()
  if (isCut) return `${whole}\n[The result was cut here: ${limit} characters are shown, and there are more.]`
  if (content.length <= limit) return whole
  return `${whole}\n[The result was cut here: ${limit} of ${content.length} characters are shown.]`
}

interface OpenCalls {
  /** The agent's answers since the user's last message, without those that broke off. */
  answers: StoredMessage[]
  /** The calls of the last answer that have no result yet. */
  calls: ToolCall[]
}

export function openCalls(history: readonly StoredMessage[]): OpenCalls {
  const since = history.slice(history.findLastIndex((message) => message.role === 'user') + 1)
  const answered = new Set(since.flatMap((message) => (message.toolCallId === undefined ? [] : [message.toolCallId])))
  const answers = since.filter((message) => message.role === 'assistant' && message.brokenOff !== true)
  return { answers, calls: (answers.at(-1)?.toolCalls ?? []).filter((call) => !answered.has(call.id)) }
}
