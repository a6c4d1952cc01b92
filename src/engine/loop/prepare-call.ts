// Decides about one call before anything runs: does the agent have this tool, do the arguments fit, and may the call run?

import { isRecord } from '../../domain/is-record.ts'
import type { ToolCall } from '../../domain/message.ts'
import { type Approval, type ClientCall, clientCallId, type Wait } from '../../domain/wait.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AgentTool, ClientTool, ServerTool, Tool } from '../../tools/tool.ts'
import type { AgentParts, Lane, RunScope } from '../run/run-scope.ts'
import { whyMissing } from './offered-tools.ts'

export type PreparedCall = { call: ToolCall } & (
  | {
      type: 'run'
      tool: ServerTool | AgentTool
      arguments: Record<string, unknown>
      /** Running the call uses it up. */
      approval: Approval | null
      grant: string | null
    }
  | { type: 'wait'; wait: Wait; isNew: boolean }
  /** The model reads the reason and can correct its call. */
  | { type: 'refused'; reason: string }
)

export type RunnableCall = Extract<PreparedCall, { type: 'run' }>

/** A client that never comes back must not keep a session waiting for ever. */
const CLIENT_CALL_MS = 24 * 60 * 60 * 1000

/** `wait` is what the call has waited for, if it was prepared before. */
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
  if (wait !== null && wait.wait !== 'approval') throw new Error(`Call ${call.id} waits for a ${wait.wait}.`)
  if (wait?.status === 'pending') return { call, type: 'wait', wait, isNew: false }
  if (wait !== null && wait.status !== 'approved' && wait.status !== 'consumed') return refused(refusal(wait))

  const tool = tools.get(call.function.name)
  if (tool === undefined) return refused(whyMissing(agent, call.function.name, tools))
  // If a person was asked, the arguments are those they were shown: the tool may have other defaults now.
  const args = checkArguments(tool, wait?.editedArguments ?? wait?.arguments ?? call.function.arguments)
  if (typeof args === 'string') return refused(args)
  if (tool.location === 'client') {
    return { call, type: 'wait', wait: newClientCall(scope, lane, agent, tool, call), isNew: true }
  }
  // It was allowed before a crash interrupted it, and its tool is still the same.
  if (scope.begun.get(call.id) === tool.binding) {
    return { call, type: 'run', tool, arguments: args, approval: null, grant: null }
  }
  return askGate(scope, lane, agent, tool, call, args, wait)
}

/** The arguments with the tool's defaults. A sentence for the model if they do not fit. */
function checkArguments(tool: Tool, text: string): Record<string, unknown> | string {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = null
  }
  if (!isRecord(value)) return 'The arguments are not a JSON object. Send the call again with valid JSON.'
  const checked = jsonCheckOf(tool.parameters).check(value)
  if (checked.ok) return { ...Object(checked.value) }
  return `The arguments do not fit: ${checked.problems.join('; ')}. Send the call again with arguments that fit.`
}

async function askGate(
  { run, gate, clock, log }: RunScope,
  { id: lane }: Lane,
  { definition }: AgentParts,
  tool: ServerTool | AgentTool,
  call: ToolCall,
  args: Record<string, unknown>,
  asked: Approval | null,
): Promise<PreparedCall> {
  const verdict = await gate.judge({
    agent: definition,
    tool,
    arguments: args,
    callId: call.id,
    sessionId: run.sessionId,
    runId: run.id,
    owner: run.owner,
    lane,
    asked,
    now: clock.now(),
    log,
  })
  switch (verdict.verdict) {
    case 'refuse':
      return { call, type: 'refused', reason: `This call is not allowed: ${verdict.reason}` }
    case 'run':
      return { call, type: 'run', tool, arguments: args, approval: verdict.approval, grant: verdict.grant }
    case 'ask':
      return { call, type: 'wait', wait: verdict.approval, isNew: true }
  }
}

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

/** What the model is told about a call that nobody allowed. */
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
