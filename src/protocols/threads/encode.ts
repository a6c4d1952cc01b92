// The events of a piece of work (a run, and those that went on from it) -> the events of this family. It keeps what the last one
// needs: the whole answer.

import type { Fact } from '../../domain/entry.ts'
import type { RunEvent, RunEventOf, RunEventType } from '../../domain/event.ts'
import { textOf } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
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
} from '../../domain/run-answer.ts'
import type { SessionRecord } from '../../domain/session.ts'
import type { ClientCall } from '../../domain/wait.ts'
import type { AnswerEncoder } from '../shared/answer/stream-answer.ts'
import { answerMessage, isoTime, requestMetadata, resultValue } from './chat-message.ts'
import { errorKind } from './error-type.ts'
import type { ThreadEvent } from './schema.ts'

/** The session's id as its client knows it. */
export const threadIdOf = ({ alias, id }: Pick<SessionRecord, 'alias' | 'id'>): string => alias ?? id

export interface ThreadEncoder extends AnswerEncoder {
  encodeFact(fact: Fact): { data: string }[]
  /** What is known of the calls that a run leaves to the client; before its end is encoded. */
  takeCalls(calls: readonly ClientCall[]): void
  /** Results of the client that came while a run was at work: no event tells them. */
  takeResults(results: readonly ToolResult[]): void
  /** The calls that were left to the client, by their id. */
  readonly clientCalls: ReadonlyMap<string, ClientCall>
  /** All that was said and done; null before the end of a run. */
  answer(): RunAnswer | null
}

const reads: ReadonlySet<RunEventType> = new Set<RunEventType>([...foldedTypes, 'STEP_STARTED', 'SUBAGENT_STARTED'])

/** `run` is the first one of the work. */
export function createThreadEncoder(session: SessionRecord, run: RunRecord): ThreadEncoder {
  const threadId = threadIdOf(session)
  const fold = createRunFold()
  const calls = new Map<string, { name: string; args: string; endedAt: number; started: boolean }>()
  const known = new Map<string, ClientCall>()
  const requested = new Set<string>()
  /** Requested, and not answered yet. */
  const open = new Set<string>()
  let speaking: string | null = null

  const shared = (timestamp: number) => ({ thread_id: threadId, timestamp: isoTime(timestamp) })

  // One of these is made per token: all but the text and the time is the same, and many come in one millisecond.
  const tokenStart = `{"event":"token","thread_id":${JSON.stringify(threadId)},"timestamp":"`
  let spoken = { at: Number.NaN, time: '' }

  function token({ messageId, delta, timestamp = 0 }: RunEventOf<'TEXT_MESSAGE_CONTENT'>): string {
    // The tokens, put together, are the content of the message that completes them.
    const gap = speaking === null || speaking === messageId ? '' : BETWEEN_MESSAGES
    speaking = messageId
    if (spoken.at !== timestamp) spoken = { at: timestamp, time: isoTime(timestamp) }
    return `${tokenStart}${spoken.time}","token":${JSON.stringify(gap + delta)}}`
  }

  /** Only when it runs here: a call that the client runs or a person has to allow has not started. */
  function toolStart(toolCallId: string, timestamp: number): ThreadEvent[] {
    const call = calls.get(toolCallId)
    if (call === undefined || call.started) return []
    call.started = true
    const named = { tool_call_id: toolCallId, tool_name: call.name }
    return [{ event: 'tool_start', ...shared(timestamp), ...named, arguments: parseArguments(call.args) }]
  }

  function toolEnd(event: RunEventOf<'TOOL_CALL_RESULT'>): ThreadEvent {
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
  }

  function toolResult(event: RunEventOf<'TOOL_CALL_RESULT'>): ThreadEvent[] {
    const { toolCallId, content, timestamp = 0 } = event
    // The client gave none: this is what the model is told in its place.
    if (open.has(toolCallId)) return complete([toolCallId], timestamp, textOf(content))
    // One that was refused before it could start.
    return [...toolStart(toolCallId, timestamp), toolEnd(event)]
  }

  function request(callIds: readonly string[], timestamp: number): ThreadEvent[] {
    return callIds.flatMap((callId): ThreadEvent[] => {
      const call = known.get(callId)
      if (call === undefined || requested.has(callId)) return []
      requested.add(callId)
      open.add(callId)
      return [
        {
          event: 'tool_execution_request',
          ...shared(timestamp),
          execution_id: call.id,
          tool_call_id: callId,
          tool_name: call.tool,
          arguments: parseArguments(call.arguments),
        },
      ]
    })
  }

  function complete(callIds: readonly string[], timestamp: number, error?: string): ThreadEvent[] {
    return callIds.flatMap((callId): ThreadEvent[] => {
      const call = known.get(callId)
      if (call === undefined || !open.delete(callId)) return []
      const ids = { execution_id: call.id, tool_call_id: callId }
      return [
        { event: 'tool_execution_complete', ...shared(timestamp), ...ids, ...(error === undefined ? {} : { error }) },
      ]
    })
  }

  const failed = (code: string, message: string, timestamp: number): ThreadEvent => {
    const { type, recoverable } = errorKind(code)
    return { event: 'error', ...shared(timestamp), error_type: type, error_message: message, recoverable }
  }

  function finished(event: RunEventOf<'RUN_FINISHED'>): ThreadEvent[] {
    const { timestamp = 0, runId } = event
    const { clientCallIds } = waitsFor(event)
    if (clientCallIds.length > 0) return request(clientCallIds, timestamp)
    const answer = fold.answer()
    if (answer === null) return []
    if (answer.outcome === 'cancelled') return [failed('cancelled', 'The run was stopped.', timestamp)]
    const message = answerMessage(answer, timestamp, requestMetadata(run))
    const end = { event: 'message_complete' as const, ...shared(timestamp), message }
    if (answer.outcome !== 'waiting') return [end]
    // What a person decides takes its time; the client can do its part meanwhile.
    const requests = request([...known.keys()], timestamp)
    return [...requests, { ...end, status: 'waiting', run_id: runId, approval_ids: answer.approvalIds }]
  }

  function threadEvents(event: RunEvent): ThreadEvent[] {
    const { timestamp = 0 } = event
    switch (event.type) {
      case 'RUN_STARTED': {
        const brought = event.input?.messages ?? []
        return complete(
          brought.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
          timestamp,
        )
      }
      case 'STEP_STARTED':
        // The model goes on only when nothing is open: what is left came while the run was at work.
        return complete([...open], timestamp)
      case 'TOOL_CALL_START':
        calls.set(event.toolCallId, { name: event.toolCallName, args: '', endedAt: timestamp, started: false })
        return []
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.args += event.delta
        return []
      }
      case 'TOOL_CALL_END': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.endedAt = timestamp
        // Arguments that stopped half-way are no call.
        if (isBrokenOff(event.metadata)) calls.delete(event.toolCallId)
        return []
      }
      case 'SUBAGENT_STARTED':
        return event.parentToolCallId === undefined ? [] : toolStart(event.parentToolCallId, timestamp)
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
    clientCalls: known,
    encode(event) {
      fold.add(event)
      return event.type === 'TEXT_MESSAGE_CONTENT' ? [{ data: token(event) }] : frames(threadEvents(event))
    },
    encodeFact: (fact) => (fact.fact === 'tool_intent' ? frames(toolStart(fact.call, fact.at)) : []),
    takeCalls(calls) {
      for (const call of calls) known.set(call.callId, call)
    },
    takeResults(results) {
      for (const result of results) fold.addResult(result)
    },
    answer: () => fold.answer(),
  }
}
