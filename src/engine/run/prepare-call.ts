// What becomes of one call before anything runs: is it a tool of this agent, do the arguments fit, who has to allow it?

import { isRecord } from '../../domain/is-record.ts'
import type { ToolCall } from '../../domain/message.ts'
import { type Approval, type ClientCall, clientCallId, type Wait } from '../../domain/wait.ts'
import { callDigest, isSameTool } from '../../json/digest.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AgentTool, ClientTool, ServerTool, Tool } from '../../tools/tool.ts'
import { logAskedAgain } from '../ask-again.ts'
import type { GatedCall, Verdict } from '../gate.ts'
import { whyMissing } from './offered-tools.ts'
import type { AgentParts, Lane, RunScope } from './run-scope.ts'

export type PreparedCall = { call: ToolCall } & (
  | {
      type: 'run'
      tool: ServerTool | AgentTool
      arguments: Record<string, unknown>
      /** Used up by running it. */
      approval: Approval | null
      grant: string | null
    }
  | { type: 'wait'; wait: Wait; isNew: boolean }
  /** The model reads why, and can correct it. */
  | { type: 'refused'; reason: string }
)

/** A client that never comes back must not keep a session waiting for ever. */
const CLIENT_CALL_MS = 24 * 60 * 60 * 1000

/** `wait` is what the call has waited for so far. */
export async function prepareCall(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  wait: Wait | null,
): Promise<PreparedCall> {
  const refused = (reason: string): PreparedCall => ({ call, type: 'refused', reason })
  if (wait?.wait === 'client_call') return afterClientCall(call, wait)
  if (wait?.status === 'pending') return { call, type: 'wait', wait, isNew: false }
  if (wait !== null && wait.status !== 'approved' && wait.status !== 'consumed') return refused(refusal(wait))

  const tool = tools.get(call.function.name)
  if (tool === undefined) return refused(whyMissing(agent, call.function.name, tools))
  // Of what a person was asked about, what they were shown: the tool may have other defaults by now.
  const written = wait?.editedArguments ?? wait?.arguments ?? call.function.arguments
  const parsed = parseArguments(written)
  if (parsed === null) return refused('The arguments are not a JSON object. Send the call again with valid JSON.')
  const checked = jsonCheckOf(tool.parameters).check(parsed)
  if (!checked.ok) {
    return refused(
      `The arguments do not fit: ${checked.problems.join('; ')}. Send the call again with arguments that fit.`,
    )
  }
  const args = { ...Object(checked.value) } as Record<string, unknown>
  if (tool.location === 'client')
    return { call, type: 'wait', wait: newClientCall(scope, lane, agent, tool, call), isNew: true }
  const { sessionId } = scope.run
  const gated = { agent: agent.definition, tool, arguments: args, sessionId, now: scope.clock.now() }
  if (isAllowed(scope, gated, call, tool, wait)) {
    return { call, type: 'run', tool, arguments: args, approval: null, grant: null }
  }
  const verdict = await scope.gate.judge(gated)
  switch (verdict.verdict) {
    case 'refuse':
      return refused(`This call is not allowed: ${verdict.reason}`)
    case 'run':
      return { call, type: 'run', tool, arguments: args, approval: usable(wait), grant: verdict.grant }
    case 'ask': {
      const digest = callDigest({
        callId: call.id,
        tool: tool.name,
        arguments: args,
        policyVersion: verdict.policyVersion,
      })
      const approval = usable(wait)
      // What was shown is what runs: when the tool or the rules have changed since, a person is asked again.
      if (approval?.digest === digest) return { call, type: 'run', tool, arguments: args, approval, grant: null }
      const next = newApproval(scope, lane, agent, tool, call, args, digest, verdict, wait)
      if (wait !== null) logAskedAgain(scope.log, next, wait)
      return { call, type: 'wait', wait: next, isNew: true }
    }
  }
}

/**
 * It was allowed before the crash that it is begun again after; or it is an agent that goes on with what it was allowed to do.
 * What has become another tool since was not.
 */
function isAllowed(
  { begun, gate }: RunScope,
  gated: GatedCall,
  call: ToolCall,
  tool: Tool,
  wait: Approval | null,
): boolean {
  if (begun.has(call.id)) return begun.get(call.id) === tool.binding
  if (tool.location !== 'agent' || wait?.status !== 'consumed') return false
  return isSameTool(wait.policyVersion, gate.question(gated).policyVersion)
}

const usable = (wait: Approval | null): Approval | null => (wait?.status === 'approved' ? wait : null)

function afterClientCall(call: ToolCall, wait: ClientCall): PreparedCall {
  switch (wait.status) {
    case 'pending':
      return { call, type: 'wait', wait, isNew: false }
    case 'expired':
      return { call, type: 'refused', reason: 'The client did not answer in time.' }
    default:
      return { call, type: 'refused', reason: 'The client did not run this call.' }
  }
}

/** What the model is told of a call that nobody allowed. */
export function refusal({ status, reason }: Pick<Approval, 'status' | 'reason'>): string {
  const why = reason === null || reason === '' ? '' : ` Reason: ${reason}`
  switch (status) {
    case 'rejected':
      return `A person refused this call, so it was not run.${why} Do not send it again unless you are asked to.`
    case 'expired':
      return 'Nobody allowed this call in time, so it was not run. Do not send it again unless you are asked to.'
    default:
      return 'This call was broken off before anybody allowed it, so it was not run.'
  }
}

function newClientCall(scope: RunScope, lane: Lane, agent: AgentParts, tool: ClientTool, call: ToolCall): ClientCall {
  const { run, clock } = scope
  const createdAt = clock.now()
  const inStream = run.input.clientAnswers === 'in_stream'
  return {
    id: clientCallId(call.id),
    wait: 'client_call',
    status: 'pending',
    sessionId: run.sessionId,
    owner: run.owner,
    agent: agent.definition.name,
    runId: run.id,
    callId: call.id,
    tool: tool.name,
    arguments: call.function.arguments,
    lane: lane.id,
    createdAt,
    expiresAt: createdAt + (inStream ? tool.timeoutMs : CLIENT_CALL_MS),
    onExpiry: inStream ? 'continue' : 'complete',
    continuationRunId: null,
    answeredAt: null,
  }
}

function newApproval(
  scope: RunScope,
  lane: Lane,
  agent: AgentParts,
  tool: Tool,
  call: ToolCall,
  args: Record<string, unknown>,
  digest: string,
  verdict: Extract<Verdict, { verdict: 'ask' }>,
  before: Approval | null,
): Approval {
  const { run, clock, ids } = scope
  const { title, description, policyVersion, risk, answerableBy, expiresAt } = verdict
  return {
    id: ids.uuid(),
    wait: 'approval',
    status: 'pending',
    kind: 'tool_call',
    sessionId: run.sessionId,
    owner: run.owner,
    agent: agent.definition.name,
    runId: run.id,
    callId: call.id,
    tool: tool.name,
    arguments: JSON.stringify(args),
    lane: lane.id,
    title,
    description,
    risk,
    digest,
    policyVersion,
    answerableBy,
    beforeHash: null,
    afterHash: null,
    messageRefs: {},
    // Newer than the one it takes the place of, also when the wall clock has been set back.
    createdAt: Math.max(clock.now(), (before?.createdAt ?? 0) + 1),
    expiresAt,
    continuationRunId: null,
    decidedAt: null,
    decidedBy: null,
    reason: null,
    editedArguments: before?.editedArguments ?? null,
    consumedAt: null,
  }
}

function parseArguments(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? { ...value } : null
  } catch {
    return null
  }
}
