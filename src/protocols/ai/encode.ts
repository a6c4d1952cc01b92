// Encodes the events of runs as chunks of the UI message stream v1. Pure.
//
// A message of `useChat` is everything between two messages of the user. So a run and the runs that continue it are one message, and
// a call can get its answer in another run, and another stream, than the one that made it.

import { isRecord } from '../../domain/is-record.ts'
import { jsonIn } from '../../domain/json-in.ts'
import { present } from '../../domain/present.ts'
import type { ClientCall } from '../../domain/records/record.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type {
  Interrupt,
  RunEvent,
  RunEventOf,
  RunEventType,
  TerminalEvent,
  TokenUsage,
} from '../../domain/session/event.ts'
import { textOf } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import {
  errorOf,
  isBrokenOff,
  isCutByLength,
  isFailedResult,
  isOfSubagent,
  outcomeOf,
  parseArguments,
} from '../../domain/session/run-answer.ts'
import { citationsIn, SOURCES, shownSource } from '../../domain/session/source.ts'
import { unreachable } from '../../domain/unreachable.ts'
import type { AnswerEncoder } from '../shared/answer/stream-answer.ts'
import { patchState } from './patch-state.ts'
import type { UiChunk, UiMetadata } from './schema.ts'

/** A call that the message at the client has already. */
export interface HeldCall {
  id: string
  name: string
  /** The approval that the message shows; null: none. */
  approval: ShownApproval | null
}

interface ShownApproval {
  id: string
  /** The message has the answer too: the page gave it itself. */
  isAnswered: boolean
}

export interface UiMessageOf {
  run: Pick<RunRecord, 'sessionId' | 'agent'>
  messageId: string
  /** A stream can only speak of calls that the client knows: it fails at any other. */
  held: readonly HeldCall[]
  /** How many runs before the last one are part of the stream. */
  runsBefore: number
}

/** An encoder that gets the calls for the client before the end of a run. */
export interface UiEncoder extends AnswerEncoder {
  takeCalls(calls: readonly ClientCall[]): void
}

interface Call {
  name: string
  args: string
  /** `written`: the client does not know yet who runs it. */
  state: 'written' | 'available' | 'done'
  approval: ShownApproval | null
  /** It was allowed to run. */
  hasBegun: boolean
}

/** Everything but what `useChat` has no words for. */
const reads: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'RUN_FINISHED',
  'RUN_ERROR',
  'STEP_STARTED',
  'STEP_FINISHED',
  'TEXT_MESSAGE_START',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'REASONING_MESSAGE_START',
  'REASONING_MESSAGE_CONTENT',
  'REASONING_MESSAGE_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'STATE_SNAPSHOT',
  'STATE_DELTA',
  'ACTIVITY_SNAPSHOT',
  'CUSTOM',
  'SUBAGENT_STARTED',
  'SUBAGENT_FINISHED',
  'SUBAGENT_ERROR',
])

export function createUiEncoder({ run, messageId, held, runsBefore }: UiMessageOf): UiEncoder {
  // Ids come from models. A Map, not an object: "__proto__" must be an ordinary key.
  const calls = new Map<string, Call>(
    held.map(({ id, name, approval }) => [id, { name, args: '', state: 'available', approval, hasBegun: false }]),
  )
  const subagents = new Map<string, { name: string; toolCallId?: string }>()
  let clientCalls: readonly ClientCall[] = []
  let state: unknown
  /** Several messages may cite the same passage. */
  const cited = new Set<number>()
  let started = false
  let callsOfStep: string[] = []
  let isStepBroken = false
  let ended = 0

  function start(event: RunEventOf<'RUN_STARTED'>): UiChunk[] {
    const messageMetadata = { sessionId: run.sessionId, runId: event.runId, agent: run.agent }
    const first: UiChunk = started
      ? { type: 'message-metadata', messageMetadata }
      : { type: 'start', messageId, messageMetadata }
    started = true
    // A run that continues after client tools brings their results as messages.
    return [
      first,
      ...(event.input?.messages ?? []).flatMap((message) => (message.role === 'tool' ? fromPage(message) : [])),
    ]
  }

  function fromPage({
    toolCallId,
    content,
    error,
  }: {
    toolCallId: string
    content: unknown
    error?: string
  }): UiChunk[] {
    const call = calls.get(toolCallId)
    if (call === undefined || call.state === 'done') return []
    call.state = 'done'
    if (error !== undefined) return [{ type: 'tool-output-error', toolCallId, errorText: error }]
    return [{ type: 'tool-output-available', toolCallId, output: outputOf(String(content)) }]
  }

  /** Shows the whole input of a call, and that the server runs it. */
  function begin(toolCallId: string): UiChunk[] {
    const call = calls.get(toolCallId)
    if (call?.state !== 'written') return []
    call.state = 'available'
    const input = parseArguments(call.args)
    return [{ type: 'tool-input-available', toolCallId, toolName: call.name, input, providerExecuted: true }]
  }

  /** A call whose input broke off was never made. */
  function breakOff(toolCallId: string, call: Call): UiChunk[] {
    call.state = 'done'
    isStepBroken = true
    const shown = { toolCallId, toolName: call.name, input: parseArguments(call.args), providerExecuted: true }
    return [{ type: 'tool-input-error', ...shown, errorText: 'The call broke off before it was complete.' }]
  }

  function result(event: RunEventOf<'TOOL_CALL_RESULT'>): UiChunk[] {
    const { toolCallId } = event
    const call = calls.get(toolCallId)
    if (call === undefined || call.state === 'done') return []
    const shown = begin(toolCallId)
    call.state = 'done'
    const text = textOf(event.content)
    const isDenied = isFailedResult(event) && call.approval !== null && !call.hasBegun
    if (call.approval?.isAnswered === false) {
      const reason = isDenied ? { reason: text } : {}
      shown.push({ type: 'tool-approval-response', approvalId: call.approval.id, approved: !isDenied, ...reason })
    }
    if (isDenied) shown.push({ type: 'tool-output-denied', toolCallId })
    else if (isFailedResult(event)) shown.push({ type: 'tool-output-error', toolCallId, errorText: text })
    else shown.push({ type: 'tool-output-available', toolCallId, output: outputOf(text) })
    return shown
  }

  function subagent(id: string, status: string): UiChunk {
    return { type: 'data-subagent', id, data: { name: '', ...subagents.get(id), status } }
  }

  /** A call of a sub-agent is not in the message before somebody is asked about it. */
  function known(toolCallId: string, toolName: string, input: unknown): { call: Call; shown: UiChunk[] } {
    const call = calls.get(toolCallId)
    if (call !== undefined) return { call, shown: begin(toolCallId) }
    const made: Call = { name: toolName, args: '', state: 'available', approval: null, hasBegun: false }
    calls.set(toolCallId, made)
    return {
      call: made,
      shown: [{ type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: true }],
    }
  }

  function asked({
    id,
    reason,
    message = '',
    toolCallId = id,
    responseSchema,
    expiresAt,
    metadata,
  }: Interrupt): UiChunk[] {
    const own = isRecord(metadata?.quarterdeck) ? metadata.quarterdeck : {}
    const { digest: signature, tool, arguments: input, ...about } = own
    const digest = String(signature)
    const { call, shown } = known(toolCallId, String(tool), input)
    if (reason === 'input_required') {
      const data = { toolCallId, message, schema: responseSchema ?? {}, digest, ...present({ expiresAt }) }
      // The page gives the answer in the place of the tool, so for the page it is a call of its own.
      const forPage = { type: 'tool-input-available', toolCallId, toolName: call.name, input } as const
      return [...shown, { ...forPage, providerExecuted: false }, { type: 'data-question', id, data }]
    }
    call.approval = { id, isAnswered: false }
    const approvalDescriptor = { arguments: input, ...about, ...present({ expiresAt }) }
    shown.push({
      type: 'tool-approval-request',
      approvalId: id,
      toolCallId,
      reason: message,
      signature: digest,
      approvalDescriptor,
    })
    return shown
  }

  /** The page runs these calls, and sends what came of them with its next request. */
  const handOver = (): UiChunk[] =>
    clientCalls.map(({ callId: toolCallId, tool: toolName, arguments: args }) => {
      const call = calls.get(toolCallId)
      if (call === undefined)
        calls.set(toolCallId, { name: toolName, args, state: 'available', approval: null, hasBegun: false })
      else call.state = 'available'
      const input = parseArguments(args)
      return { type: 'tool-input-available', toolCallId, toolName, input, providerExecuted: false }
    })

  function sourcesOf({ metadata }: RunEventOf<'TEXT_MESSAGE_END'>): UiChunk[] {
    const citations = citationsIn(metadata)
    if (citations === null) return []
    const { sources, notFound } = citations
    const parts = sources.filter(({ number }) => !cited.has(number)).map(shownSource)
    for (const { number } of parts) cited.add(number)
    return [
      ...parts.map((source): UiChunk => {
        const { id: sourceId, file: filename, heading } = source
        const title = heading ?? filename
        const mediaType = mediaTypes.get(filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()) ?? 'text/plain'
        return {
          ...{ type: 'source-document', sourceId, mediaType, title, filename },
          providerMetadata: { quarterdeck: source },
        }
      }),
      ...(notFound.length === 0
        ? []
        : [{ type: 'message-metadata' as const, messageMetadata: { citationsNotFound: [...notFound] } }]),
    ]
  }

  /** A run that ends for good leaves no call open. */
  function closeCalls(): UiChunk[] {
    return [...calls].flatMap(([toolCallId, call]): UiChunk[] => {
      if (call.state === 'done') return []
      const shown = begin(toolCallId)
      call.state = 'done'
      return [...shown, { type: 'tool-output-error', toolCallId, errorText: 'The run ended before this call did.' }]
    })
  }

  function end(event: TerminalEvent): UiChunk[] {
    const outcome = outcomeOf(event)
    const interrupts =
      event.type === 'RUN_FINISHED' && event.outcome?.type === 'interrupt' ? event.outcome.interrupts : []
    const asks = outcome === 'waiting' ? [...interrupts.flatMap(asked), ...handOver()] : closeCalls()
    ended += 1
    // Its answer is in the next run.
    if (outcome === 'waiting' && ended <= runsBefore) return asks
    const usage = usageOf(event.usage)
    const messageMetadata: UiMetadata = { outcome, ...(usage === null ? {} : { usage }) }
    if (event.type === 'RUN_ERROR') {
      const error = errorOf(event)
      // The chunk `error` has room for a text only, and the client reads nothing behind it.
      return [
        ...asks,
        { type: 'message-metadata', messageMetadata: { ...messageMetadata, error } },
        { type: 'error', errorText: error.message },
      ]
    }
    if (outcome === 'cancelled') asks.push({ type: 'abort', reason: 'The run was stopped.' })
    const finishReason = isCutByLength(event) ? 'length' : (FINISH[outcome] ?? 'stop')
    return [...asks, { type: 'finish', finishReason, messageMetadata }]
  }

  function chunksOf(event: RunEvent): UiChunk[] {
    switch (event.type) {
      case 'RUN_STARTED':
        return start(event)
      case 'STEP_STARTED': {
        // A step that broke off, as in a crash, is made again. The client forgets its parts.
        const type = isStepBroken ? 'reset-step' : 'start-step'
        if (isStepBroken) for (const id of callsOfStep) calls.delete(id)
        callsOfStep = []
        isStepBroken = false
        return [{ type }]
      }
      case 'STEP_FINISHED':
        return isStepBroken ? [] : [{ type: 'finish-step' }]
      case 'TEXT_MESSAGE_START':
        return [{ type: 'text-start', id: event.messageId }]
      case 'TEXT_MESSAGE_CONTENT':
        return [{ type: 'text-delta', id: event.messageId, delta: event.delta }]
      case 'TEXT_MESSAGE_END':
        if (isBrokenOff(event.metadata)) isStepBroken = true
        return [{ type: 'text-end', id: event.messageId }, ...sourcesOf(event)]
      case 'REASONING_MESSAGE_START':
        return [{ type: 'reasoning-start', id: event.messageId }]
      case 'REASONING_MESSAGE_CONTENT':
        return [{ type: 'reasoning-delta', id: event.messageId, delta: event.delta }]
      case 'REASONING_MESSAGE_END':
        return [{ type: 'reasoning-end', id: event.messageId }]
      case 'TOOL_CALL_START': {
        const { toolCallId, toolCallName: name } = event
        calls.set(toolCallId, { name, args: '', state: 'written', approval: null, hasBegun: false })
        callsOfStep.push(toolCallId)
        return [{ type: 'tool-input-start', toolCallId, toolName: name }]
      }
      case 'TOOL_CALL_ARGS': {
        const { toolCallId, delta: inputTextDelta } = event
        const call = calls.get(toolCallId)
        if (call === undefined) return []
        call.args += inputTextDelta
        return [{ type: 'tool-input-delta', toolCallId, inputTextDelta }]
      }
      case 'TOOL_CALL_END': {
        // Whether the server or the page runs it shows later: when the tool begins, or at the end of the run.
        const call = calls.get(event.toolCallId)
        return call !== undefined && isBrokenOff(event.metadata) ? breakOff(event.toolCallId, call) : []
      }
      case 'TOOL_CALL_RESULT':
        return result(event)
      case 'STATE_SNAPSHOT':
        state = event.snapshot
        return [{ type: 'data-state', id: 'state', data: state }]
      case 'STATE_DELTA':
        state = patchState(state, event.delta)
        return [{ type: 'data-state', id: 'state', data: state }]
      case 'ACTIVITY_SNAPSHOT': {
        const { messageId: id, activityType: type, content } = event
        // They are parts of the message already.
        if (type === SOURCES) return []
        return [{ type: 'data-activity', id, data: { type, content } }]
      }
      case 'CUSTOM': {
        const { name, value } = event
        if (name === 'quarterdeck:warning') return [{ type: 'data-warning', data: value, transient: true }]
        return [{ type: 'data-custom', data: { name, value }, transient: true }]
      }
      case 'SUBAGENT_STARTED': {
        const { subagentRunId, name, parentToolCallId: toolCallId } = event
        subagents.set(subagentRunId, { name, ...present({ toolCallId }) })
        return [...begin(toolCallId ?? ''), subagent(subagentRunId, 'running')]
      }
      case 'SUBAGENT_FINISHED':
        return [subagent(event.subagentRunId, event.outcome?.type === 'suspended' ? 'waiting' : 'finished')]
      case 'SUBAGENT_ERROR':
        return [subagent(event.subagentRunId, 'failed')]
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        return end(event)
      case 'ACTIVITY_DELTA':
      case 'MESSAGES_SNAPSHOT':
      case 'RAW':
      case 'REASONING_START':
      case 'REASONING_END':
      case 'REASONING_ENCRYPTED_VALUE':
        return []
      default:
        return unreachable(event)
    }
  }

  const frames = (chunks: readonly UiChunk[]) => chunks.map((chunk) => ({ data: JSON.stringify(chunk) }))

  return {
    reads,
    readsSubagents: true,
    takeCalls(left) {
      clientCalls = left
    },
    encode(event) {
      // Of what a sub-agent does, only the result of a call that somebody was asked about is in the message.
      if (isOfSubagent(event)) return event.type === 'TOOL_CALL_RESULT' ? frames(result(event)) : []
      const made = frames(chunksOf(event))
      const isEnd = (event.type === 'RUN_FINISHED' && ended > runsBefore) || event.type === 'RUN_ERROR'
      return isEnd ? [...made, DONE] : made
    },
    encodeFact(fact: Fact) {
      if (fact.fact !== 'tool_intent') return []
      const call = calls.get(fact.call)
      if (call !== undefined) call.hasBegun = true
      return frames(begin(fact.call))
    },
  }
}

const DONE = { data: '[DONE]' }

/** The client wants one for each source. */
const OFFICE = 'application/vnd.openxmlformats-officedocument'
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['md', 'text/markdown'],
  ['html', 'text/html'],
  ['csv', 'text/csv'],
  ['pdf', 'application/pdf'],
  ['docx', `${OFFICE}.wordprocessingml.document`],
  ['xlsx', `${OFFICE}.spreadsheetml.sheet`],
  ['pptx', `${OFFICE}.presentationml.presentation`],
])

/** `interrupted`: the page sends nothing by itself to go on with a run that was stopped. */
const FINISH: Partial<Record<ReturnType<typeof outcomeOf>, 'stop' | 'tool-calls' | 'interrupted'>> = {
  waiting: 'tool-calls',
  cancelled: 'interrupted',
}

/** Tools answer with text. Where it is a JSON object or list, the page gets that. */
function outputOf(text: string): unknown {
  const value = jsonIn(text)
  return typeof value === 'object' && value !== null ? value : text
}

function usageOf(usage: readonly TokenUsage[] = []): UiMetadata['usage'] | null {
  if (usage.length === 0) return null
  const sum = (count: (one: TokenUsage) => number | undefined) => usage.reduce((all, one) => all + (count(one) ?? 0), 0)
  const inputTokens = sum((one) => one.inputTokens)
  const outputTokens = sum((one) => one.outputTokens)
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cachedInputTokens: sum((one) => one.cachedInputTokens),
    reasoningTokens: sum((one) => one.reasoningTokens),
  }
}
