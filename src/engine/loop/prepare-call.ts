// Decides about one call before anything runs: does the agent have this tool, do the arguments fit, and may the call run?

import type { GivenAnswer } from '../../domain/agent/question.ts'
import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { type AnyRecord, type Approval, type ClientCall, clientCallId } from '../../domain/records/record.ts'
import type { ToolCall } from '../../domain/session/message.ts'
import { jsonCheckOf } from '../../json/json-schema.ts'
import type { AgentTool, ClientTool, ServerTool, Tool } from '../../tools/tool.ts'
import type { GatedCall } from '../gate.ts'
import type { Lane } from '../run/run-scope.ts'
import { whyMissing } from './offered-tools.ts'

export type PreparedCall = { call: ToolCall } & (
  | {
      type: 'run'
      tool: ServerTool | AgentTool
      arguments: Record<string, unknown>
      /** Running the call uses it up. */
      approval: Approval | null
      grant: string | null
      /** The questions that the call has asked before, in order. It is made again with their answers. */
      answers: readonly GivenAnswer[]
      /** What was asked about this call before: its approval and its last question. */
      before: Pick<GatedCall, 'asked' | 'continues'>
    }
  | { type: 'wait'; wait: AnyRecord; isNew: boolean }
  /** The model reads the reason and can correct its call. */
  /** `waitedMs`: how long it waited for the client. */
  | { type: 'refused'; reason: string; waitedMs?: number }
  /** A person gave the result in the tool's place. */
  | { type: 'answered'; content: string }
)

export type RunnableCall = Extract<PreparedCall, { type: 'run' }>

/** A client that never comes back must not keep a session waiting for ever. */
const CLIENT_CALL_MS = 24 * 60 * 60 * 1000

/** `waits` are those of this call, newest first, if it was prepared before. */
export async function prepareCall(
  lane: Lane,
  tools: ReadonlyMap<string, Tool>,
  call: ToolCall,
  waits: readonly AnyRecord[],
): Promise<PreparedCall> {
  const { scope } = lane
  const refused = (reason: string): PreparedCall => ({ call, type: 'refused', reason })
  const unstored = scope.unstored.get(call.id)
  if (unstored !== undefined) return { call, type: 'wait', wait: unstored, isNew: true }
  // The newest one counts: an approval that no longer fitted was asked for again.
  const wait = waits.find((one) => !isHeld(one)) ?? null
  if (wait?.wait === 'client_call') return afterClientCall(call, wait, scope.clock.now())
  if (wait !== null && wait.wait !== 'approval') throw new Error(`Call ${call.id} waits for a ${wait.wait}.`)
  if (wait?.status === 'pending') return { call, type: 'wait', wait, isNew: false }
  const ending = wait === null ? null : afterDecision(wait)
  if (ending !== null) return { call, ...ending }

  const tool = tools.get(call.function.name)
  if (tool === undefined) return refused(whyMissing(lane, call.function.name, tools))
  // If a person was asked, the arguments are those they were shown: the tool may have other defaults now.
  const args = checkArguments(tool, wait?.editedArguments ?? wait?.arguments ?? call.function.arguments)
  if (typeof args === 'string') return refused(args)
  if (tool.location === 'client') {
    return { call, type: 'wait', wait: newClientCall(lane, tool, call), isNew: true }
  }
  const answers = givenAnswers(waits)
  const before = {
    asked: waits.find((one): one is Approval => one.wait === 'approval' && one.kind === 'tool_call') ?? null,
    continues: wait?.kind === 'question' ? wait : null,
  }
  // It was allowed before a crash interrupted it, and its tool is still the same.
  if (scope.begun.get(call.id) === tool.binding) {
    return { call, type: 'run', tool, arguments: args, approval: null, grant: null, answers, before }
  }
  const gated = gatedCall(lane, { tool, call, arguments: args, before })
  const verdict = await scope.gate.judge(gated)
  switch (verdict.verdict) {
    case 'refuse':
      return refused(`This call is not allowed: ${verdict.reason}`)
    case 'run': {
      const { approval, grant } = verdict
      return { call, type: 'run', tool, arguments: args, approval, grant, answers, before }
    }
    case 'ask':
      return { call, type: 'wait', wait: verdict.approval, isNew: true }
  }
}

/** A call that held its question until it was answered is made again from its start, and asks again. */
const isHeld = (wait: AnyRecord): boolean => wait.wait === 'approval' && wait.question?.held === true

/** What a person's decision makes of a call that does not run because of it. Null: the call may run. */
function afterDecision(
  approval: Approval,
): { type: 'refused'; reason: string } | { type: 'answered'; content: string } | null {
  if (approval.kind === 'question') {
    return approval.status === 'interrupted' ? { type: 'refused', reason: refusal(approval) } : null
  }
  switch (approval.status) {
    case 'approved':
    case 'consumed':
      return null
    case 'answered':
      return { type: 'answered', content: `${ANSWERED}\n${approval.response ?? ''}` }
    default:
      return { type: 'refused', reason: refusal(approval) }
  }
}

/** The model must not take a person's words for what the tool found. */
const ANSWERED = '(This tool did not run. A person answered in its place:)'

/** In the order in which they were asked. If a question was asked twice, its newer answer counts. */
function givenAnswers(waits: readonly AnyRecord[]): GivenAnswer[] {
  const answers: GivenAnswer[] = []
  for (const wait of waits.toReversed()) {
    if (wait.wait !== 'approval' || wait.question === undefined || isHeld(wait)) continue
    const { index, message, schema, state } = wait.question
    const answer = questionAnswer(wait)
    if (answer !== null) {
      answers[index] = { message, schema, state, answer }
      answers.length = index + 1
    }
  }
  return answers
}

/** Null: there is none, and there will be none. */
export function questionAnswer({ status, response, reason }: Approval): GivenAnswer['answer'] | null {
  switch (status) {
    case 'answered':
      return { type: 'answered', value: JSON.parse(response ?? 'null') }
    case 'rejected':
      return { type: 'rejected', reason }
    case 'expired':
      return { type: 'expired' }
    default:
      return null
  }
}

/** The arguments with the tool's defaults. A sentence for the model if they do not fit. */
function checkArguments(tool: Tool, text: string): Record<string, unknown> | string {
  const value = jsonIn(text)
  if (!isRecord(value)) return 'The arguments are not a JSON object. Send the call again with valid JSON.'
  const checked = jsonCheckOf(tool.parameters).check(value)
  if (checked.ok) return { ...Object(checked.value) }
  return `The arguments do not fit: ${checked.problems.join('; ')}. Send the call again with arguments that fit.`
}

export function gatedCall(
  { scope: { run, clock, log }, agent: { definition }, id: lane }: Lane,
  { tool, call, arguments: args, before }: Pick<RunnableCall, 'tool' | 'call' | 'arguments' | 'before'>,
): GatedCall {
  return {
    agent: definition,
    tool,
    arguments: args,
    callId: call.id,
    sessionId: run.sessionId,
    runId: run.id,
    owner: run.owner,
    lane,
    ...before,
    now: clock.now(),
    log,
  }
}

function afterClientCall(call: ToolCall, wait: ClientCall, now: number): PreparedCall {
  switch (wait.status) {
    case 'pending':
      return { call, type: 'wait', wait, isNew: false }
    case 'expired':
      return { call, type: 'refused', reason: 'The client did not answer in time.', waitedMs: now - wait.createdAt }
    default:
      return { call, type: 'refused', reason: 'The client did not run this call.' }
  }
}

/** What the model is told about a call that nobody allowed, or whose question nobody answered. */
export function refusal({ kind, status, reason }: Pick<Approval, 'kind' | 'status' | 'reason'>): string {
  const why = reason === null || reason === '' ? '' : ` Reason: ${reason}`
  if (kind === 'question') {
    const refused = status === 'rejected' ? `A person refused to answer the question of this tool.${why}` : ''
    return `${refused || 'This call was broken off while it waited for the answer of a person.'} What it did before it asked stays done.`
  }
  switch (status) {
    case 'rejected':
      return `A person refused this call, so it was not run.${why} Do not send it again unless you are asked to.`
    case 'expired':
      return 'Nobody allowed this call in time, so it was not run. Do not send it again unless you are asked to.'
    default:
      return 'This call was broken off before anybody allowed it, so it was not run.'
  }
}

function newClientCall({ scope: { run, clock }, agent, id: lane }: Lane, tool: ClientTool, call: ToolCall): ClientCall {
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
    lane,
    createdAt,
    expiresAt: createdAt + (inStream ? tool.timeoutMs : CLIENT_CALL_MS),
    onExpiry: inStream ? 'continue' : 'complete',
    continuationRunId: null,
    answeredAt: null,
  }
}
