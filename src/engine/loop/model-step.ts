// One answer of the model, from the request to the messages that are stored.

import { ServerError } from '../../domain/errors.ts'
import { present } from '../../domain/present.ts'
import type { StoredMessage, ToolCall } from '../../domain/session/message.ts'
import type { Citations } from '../../domain/session/source.ts'
import { type ModelSpan, traceFields } from '../../domain/telemetry.ts'
import { unreachable } from '../../domain/unreachable.ts'
import {
  type FinishReason,
  type ModelPart,
  type ModelRequest,
  type ModelUsage,
  type TakeParts,
  withAside,
} from '../../models/model.ts'
import { type AgentParts, type Lane, mayCite, stopOf } from '../run/run-scope.ts'
import type { EventWriter } from '../run/run-writer.ts'
import { type AnswerInProgress, createAnswerInProgress, type WrittenCall } from './answer-in-progress.ts'
import type { Budget } from './budget.ts'

export interface Answer {
  /** The thoughts, if any, and the assistant's message. They are not stored yet. */
  messages: StoredMessage[]
  text: string
  /** Calls to run, in order. */
  calls: ToolCall[]
  /** Calls that the middleware filtered out. They left no events and never run. */
  filtered: ToolCall[]
  usage: ModelUsage | null
  finish: FinishReason
}

/**
 * An answer that stopped half-way. `messages` is what is kept of it, marked as broken off; empty if the model said nothing. `usage`
 * is what the model had reported by then.
 */
export class StepBroken extends Error {
  readonly messages: StoredMessage[]
  readonly usage: ModelUsage | null

  constructor(cause: unknown, messages: StoredMessage[], usage: ModelUsage | null) {
    super('an answer stopped half-way', { cause })
    this.messages = messages
    this.usage = usage
  }
}

/** Counts the tokens it used, also when it throws. Throws `StepBroken` with the reason as its cause. */
export async function readAnswer(lane: Lane, request: ModelRequest): Promise<Answer> {
  const { scope, agent, writer, budget } = lane
  const { signal, usage } = scope
  const { definition, model } = agent
  const answer = createAnswerInProgress(writer, scope.ids, agent === scope.root ? null : definition.name)
  const { provider, name } = model
  const told = { system: request.system, messages: withAside(request) }
  const span = lane.span.model({ agent: definition.name, provider, model: name, request: told })
  const { trace } = span
  let error: string | null = null
  /** Ends the open text with what it cites. */
  async function cite(isBroken: boolean): Promise<void> {
    if (!answer.isSpeaking()) return
    const { citationsOf } = await import('../citations/cite-answer.ts')
    const citations = await citationsOf(lane, answer.text())
    if (citations !== null) answer.cite(citations, isBroken)
  }
  // What a sub-agent says is a result for the agent that called it, and numbers in the format of a caller are data.
  const cites = lane.id === null && request.responseFormat === null && mayCite(scope, agent)
  try {
    const log = scope.log.with({ agent: definition.name, ...traceFields(trace) })
    const traced = { ...request, log, trace }
    await model.stream(traced, signal, createTaker(answer, writer, budget, span, cites ? cite : null))
    if (cites) await cite(false)
    answer.close()
    signal.throwIfAborted()
  } catch (cause) {
    error = signal.aborted ? null : errorTypeOf(cause)
    // Whoever goes on with the run asks again.
    if (cites && !goesOn(signal)) await cite(true)
    throw new StepBroken(cause, asBrokenOff(messagesOf(lane, answer)), answer.usage)
  } finally {
    if (answer.usage !== null) usage.add(provider, name, answer.usage)
    span.end({
      usage: answer.usage,
      finish: answer.finish ?? null,
      error,
      answer: () => ({
        text: answer.text(),
        calls: answer.calls.map(({ id, name, args }) => ({ id, name, arguments: args })),
      }),
    })
  }
  return {
    messages: messagesOf(lane, answer),
    text: answer.text(),
    calls: answer.calls.filter(({ isShown }) => isShown).map((call) => toToolCall(call, call.args)),
    filtered: answer.calls.filter(({ isShown }) => !isShown).map((call) => toToolCall(call, call.args)),
    usage: answer.usage,
    finish: answer.finish ?? 'stop',
  }
}

/** The run goes on in another process, or here after a restart. */
function goesOn(signal: AbortSignal): boolean {
  const stop = stopOf(signal)?.kind
  return stop === 'suspended' || stop === 'lost'
}

/** The hot path. `cite` is awaited before something else than text ends the open text; null: the answer cites nothing. */
function createTaker(
  answer: AnswerInProgress,
  writer: EventWriter,
  budget: Pick<Budget, 'charactersLeft' | 'wrote'>,
  span: ModelSpan,
  cite: ((isBroken: boolean) => Promise<void>) | null,
): TakeParts {
  let hasBegun = false
  function takeAll(parts: readonly ModelPart[]): void {
    const arrived = writer.timestamp()
    for (const part of parts) {
      const size = charactersOf(part)
      const fitting = size <= budget.charactersLeft ? part : cutPart(part, budget.charactersLeft)
      if (fitting !== null) answer.take(fitting, arrived)
      // Last, because it throws at the limit, and what was written up to there is kept.
      budget.wrote(size)
    }
  }
  async function takeCiting(parts: readonly ModelPart[], cite: (isBroken: boolean) => Promise<void>): Promise<unknown> {
    let taken = 0
    for (const [index, part] of parts.entries()) {
      if (!endsText(part)) continue
      takeAll(parts.slice(taken, index))
      await cite(false)
      taken = index
    }
    takeAll(parts.slice(taken))
    return writer.flush()
  }
  return (parts) => {
    if (!hasBegun && parts.length > 0) {
      hasBegun = true
      span.began()
    }
    if (cite !== null && parts.some(endsText)) return takeCiting(parts, cite)
    takeAll(parts)
    return writer.flush()
  }
}

const endsText = ({ type }: ModelPart): boolean =>
  type === 'tool_call_start' || type === 'reasoning' || type === 'reasoning_signature'

/** The code of a failure, for whoever watches the server. */
export function errorTypeOf(error: unknown): string {
  if (error instanceof StepBroken) return errorTypeOf(error.cause)
  return error instanceof ServerError ? error.code : 'internal_error'
}

/** An answer that people can still read and that the model is not shown again. */
export const asBrokenOff = (messages: readonly StoredMessage[]): StoredMessage[] =>
  messages.flatMap(({ toolCalls, ...message }) => {
    if (message.role === 'assistant' && message.content === '' && toolCalls === undefined) return []
    // Its calls are left out: their arguments may have stopped half-way.
    return [{ ...message, brokenOff: true }]
  })

export function messagesOf(
  lane: Lane<AgentParts>,
  { messageId, thoughts, calls, text, citations }: AnswerInProgress,
): StoredMessage[] {
  const { definition } = lane.agent
  const limit = definition.limits.storedMessageChars
  const shared = { runId: lane.scope.run.id, createdAt: lane.writer.timestamp(), lane: lane.id ?? undefined }
  const toolCalls = calls.filter(({ isShown }) => isShown).map((call) => toToolCall(call, call.shownArgs))
  return [
    ...thoughts.map((thought) => ({
      id: thought.id,
      role: 'reasoning' as const,
      ...cut(thought.text, limit),
      ...shared,
      // A provider's signature is valid for the whole text only.
      encryptedValue: thought.text.length > limit ? undefined : thought.signature,
    })),
    {
      id: messageId,
      role: 'assistant',
      ...withCitations(cut(text(), limit), citations()),
      ...shared,
      agentName: definition.name,
      toolCalls: toolCalls.length === 0 ? undefined : toolCalls,
    },
  ]
}

const toToolCall = ({ id, name, signature }: WrittenCall, args: string): ToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: args === '' ? '{}' : args },
  ...present({ encryptedValue: signature }),
})

/** A stored message has a limit. A longer one is cut, and its metadata says by how much. */
function cut(text: string, limit: number): Kept {
  if (text.length <= limit) return { content: text }
  return { content: text.slice(0, limit), metadata: { quarterdeck: { cut: text.length - limit } } }
}

type Kept = Pick<StoredMessage, 'content'> & { metadata?: { quarterdeck: Record<string, unknown> } }

function withCitations(kept: Kept, citations: Citations | null): Kept {
  if (citations === null) return kept
  return { ...kept, metadata: { quarterdeck: { ...kept.metadata?.quarterdeck, citations } } }
}

/** Counted for each call and signature besides its text, because a model may send these without end, too. */
const FRAME_CHARACTERS = 100

function charactersOf(part: ModelPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'tool_call_args':
      return part.delta.length
    case 'reasoning_signature':
      return part.signature.length + FRAME_CHARACTERS
    case 'tool_call_start':
      return part.name.length + (part.signature?.length ?? 0) + FRAME_CHARACTERS
    case 'tool_call_end':
    case 'usage':
    case 'finish':
      return 0
    default:
      return unreachable(part)
  }
}

/** The beginning of a part, which may be as long as the provider's largest event. Null if this kind of part cannot be cut. */
function cutPart(part: ModelPart, characters: number): ModelPart | null {
  if (part.type !== 'text' && part.type !== 'reasoning' && part.type !== 'tool_call_args') return null
  return { ...part, delta: part.delta.slice(0, characters).toWellFormed() }
}
