// Encodes the events of a chain (a run and the runs that continued it) as the events of these routes. It collects the whole answer,
// which the last event contains.

import { isoTime } from '../../domain/clock.ts'
import type { ClientCall } from '../../domain/records/record.ts'
import type { Fact } from '../../domain/session/entry.ts'
import type { RunEvent, RunEventOf, RunEventType } from '../../domain/session/event.ts'
import { textOf } from '../../domain/session/message.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import {
  BETWEEN_MESSAGES,
  createRunFold,
  durationIn,
  foldedTypes,
  isBrokenOff,
  isFailedResult,
  parseArguments,
  type RunAnswer,
  type ToolResult,
  waitsFor,
} from '../../domain/session/run-answer.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import type { AnswerEncoder } from '../shared/answer/stream-answer.ts'
import { clientIdOf } from '../shared/request/session-row.ts'
import { answerMessage, requestMetadata, resultValue } from './chat-message.ts'
import { errorKind } from './error-shape.ts'
import type { ThreadEvent, ToolExecution } from './schema.ts'

export interface ThreadEncoder extends AnswerEncoder {
  encodeFact(fact: Fact): { data: string }[]
  /** Takes the calls that a run leaves to the client, before the end of the run is encoded. */
  takeCalls(calls: readonly ClientCall[]): void
  /** Takes client results that arrived while a run was active: no event reports them. */
  takeResults(results: readonly ToolResult[]): void
  /** The calls of the client, by id. */
  readonly clientCalls: ReadonlyMap<string, ClientCall>
  /** The whole answer; null before the end of a run. */
  answer(): RunAnswer | null
}

const reads: ReadonlySet<RunEventType> = new Set<RunEventType>([...foldedTypes, 'STEP_STARTED', 'SUBAGENT_STARTED'])

/** `run` is the first run of the chain. */
export function createThreadEncoder(session: SessionRecord, run: RunRecord): ThreadEncoder {
  const threadId = clientIdOf(session)
  const shared: SharedFields = (timestamp) => ({ thread_id: threadId, timestamp: isoTime(timestamp) })
  const fold = createRunFold()
  const token = createTokenText(threadId)
  const serverCalls = createServerCalls(shared)
  const clientCalls = createClientCalls(shared)

  function toolResult(event: RunEventOf<'TOOL_CALL_RESULT'>): ThreadEvent[] {
    const { toolCallId, content, timestamp = 0 } = event
    // The client sent no result: the model gets this text instead.
    if (clientCalls.open.has(toolCallId)) return clientCalls.complete([toolCallId], timestamp, textOf(content))
    // Also for a call that was refused before it started.
    return [...serverCalls.start(toolCallId, timestamp), serverCalls.end(event)]
  }

  const failed = (code: string, message: string, timestamp: number): ThreadEvent => {
    const { type, recoverable } = errorKind(code)
    return { event: 'error', ...shared(timestamp), error_type: type, error_message: message, recoverable }
  }

  function finished(event: RunEventOf<'RUN_FINISHED'>): ThreadEvent[] {
    const { timestamp = 0, runId } = event
    const { clientCallIds } = waitsFor(event)
    if (clientCallIds.length > 0) return clientCalls.request(clientCallIds, timestamp)
    const answer = fold.answer()
    if (answer === null) return []
    if (answer.outcome === 'cancelled') return [failed('cancelled', 'The run was stopped.', timestamp)]
    const message = answerMessage(answer, timestamp, requestMetadata(run))
    const end = { event: 'message_complete' as const, ...shared(timestamp), message }
    if (answer.outcome !== 'waiting') return [end]
    // A decision takes time. The client can run its tools meanwhile.
    const requests = clientCalls.request([...clientCalls.known.keys()], timestamp)
    return [...requests, { ...end, status: 'waiting', run_id: runId, approval_ids: answer.approvalIds }]
  }

  function threadEvents(event: RunEvent): ThreadEvent[] {
    const { timestamp = 0 } = event
    switch (event.type) {
      case 'RUN_STARTED': {
        const brought = event.input?.messages ?? []
        const answered = brought.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : []))
        return clientCalls.complete(answered, timestamp)
      }
      case 'STEP_STARTED':
        // The model continues only when nothing is open, so these results arrived while the run was active.
        return clientCalls.complete([...clientCalls.open], timestamp)
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        serverCalls.collect(event)
        return []
      case 'SUBAGENT_STARTED':
        return event.parentToolCallId === undefined ? [] : serverCalls.start(event.parentToolCallId, timestamp)
      case 'TOOL_CALL_RESULT':
        return toolResult(event)
      case 'RUN_FINISHED':
        return finished(event)
      case 'RUN_ERROR':
        return [failed(event.code ?? 'internal_error', event.message, timestamp)]
      default:
        return []
    }
  }

  const frames = (events: readonly ThreadEvent[]) => events.map((one) => ({ data: JSON.stringify(one) }))

  return {
    reads,
    clientCalls: clientCalls.known,
    encode(event) {
      fold.add(event)
      return event.type === 'TEXT_MESSAGE_CONTENT' ? [{ data: token(event) }] : frames(threadEvents(event))
    },
    encodeFact: (fact) => (fact.fact === 'tool_intent' ? frames(serverCalls.start(fact.call, fact.at)) : []),
    takeCalls(calls) {
      for (const call of calls) clientCalls.known.set(call.callId, call)
    },
    takeResults(results) {
      for (const result of results) fold.addResult(result)
    },
    answer: () => fold.answer(),
  }
}

/** The fields that all events have. */
type SharedFields = (timestamp: number) => { thread_id: string; timestamp: string }

/** Encodes a `token` event. There is one per token, so everything but the text and the time is made once. */
function createTokenText(threadId: string): (event: RunEventOf<'TEXT_MESSAGE_CONTENT'>) => string {
  const start = `{"event":"token","thread_id":${JSON.stringify(threadId)},"timestamp":"`
  // Many tokens share a millisecond.
  let spoken = { at: Number.NaN, time: '' }
  let speaking: string | null = null

  return ({ messageId, delta, timestamp = 0 }) => {
    // All tokens together equal the content of the final message.
    const gap = speaking === null || speaking === messageId ? '' : BETWEEN_MESSAGES
    speaking = messageId
    if (spoken.at !== timestamp) spoken = { at: timestamp, time: isoTime(timestamp) }
    return `${start}${spoken.time}","token":${JSON.stringify(gap + delta)}}`
  }
}

/** The calls that the model made, and the events of those that run on the server. */
function createServerCalls(shared: SharedFields) {
  const calls = new Map<string, { name: string; args: string; endedAt: number; started: boolean }>()

  return {
    /** Takes the name, the arguments and the end of a call. */
    collect(event: RunEventOf<'TOOL_CALL_START' | 'TOOL_CALL_ARGS' | 'TOOL_CALL_END'>): void {
      const { toolCallId, timestamp = 0 } = event
      if (event.type === 'TOOL_CALL_START') {
        calls.set(toolCallId, { name: event.toolCallName, args: '', endedAt: timestamp, started: false })
        return
      }
      const call = calls.get(toolCallId)
      if (call === undefined) return
      if (event.type === 'TOOL_CALL_ARGS') {
        call.args += event.delta
        return
      }
      call.endedAt = timestamp
      // A call whose arguments broke off was never made.
      if (isBrokenOff(event.metadata)) calls.delete(toolCallId)
    },

    /** Only for a call that runs on the server. A call for the client, or one that waits for approval, has not started. */
    start(toolCallId: string, timestamp: number): ThreadEvent[] {
      const call = calls.get(toolCallId)
      if (call === undefined || call.started) return []
      call.started = true
      const named = { tool_call_id: toolCallId, tool_name: call.name }
      return [{ event: 'tool_start', ...shared(timestamp), ...named, arguments: parseArguments(call.args) }]
    },

    end(event: RunEventOf<'TOOL_CALL_RESULT'>): ThreadEvent {
      const { toolCallId, content, metadata, timestamp = 0 } = event
      const call = calls.get(toolCallId)
      const text = textOf(content)
      return {
        event: 'tool_end',
        ...shared(timestamp),
        tool_call_id: toolCallId,
        tool_name: call?.name ?? '',
        ...(isFailedResult(event) ? { result: null, error: text } : { result: resultValue(text) }),
        execution_time_ms: durationIn(metadata) ?? Math.max(0, timestamp - (call?.endedAt ?? timestamp)),
      }
    },
  }
}

export const toolExecution = ({ id, callId, tool, arguments: args }: ClientCall): ToolExecution => ({
  execution_id: id,
  tool_call_id: callId,
  tool_name: tool,
  arguments: parseArguments(args),
})

/** The calls that the client executes, and their events. */
function createClientCalls(shared: SharedFields) {
  /** By id. */
  const known = new Map<string, ClientCall>()
  const requested = new Set<string>()
  /** The calls that were requested and are not answered yet. */
  const open = new Set<string>()

  return {
    known,
    open,

    /** Asks the client to execute these calls. Skips calls that it was asked for before. */
    request: (callIds: readonly string[], timestamp: number) =>
      callIds.flatMap((callId): ThreadEvent[] => {
        const call = known.get(callId)
        if (call === undefined || requested.has(callId)) return []
        requested.add(callId)
        open.add(callId)
        return [{ event: 'tool_execution_request', ...shared(timestamp), ...toolExecution(call) }]
      }),

    /** Reports that these calls have ended. Skips calls that are not open. */
    complete: (callIds: readonly string[], timestamp: number, error?: string) =>
      callIds.flatMap((callId): ThreadEvent[] => {
        const call = known.get(callId)
        if (call === undefined || !open.delete(callId)) return []
        const ids = { execution_id: call.id, tool_call_id: callId }
        return [
          { event: 'tool_execution_complete', ...shared(timestamp), ...ids, ...(error === undefined ? {} : { error }) },
        ]
      }),
  }
}
