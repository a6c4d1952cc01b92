// The events of a run -> the events of this family. It keeps what the last one needs: the whole answer.

import type { RunEvent, RunEventOf } from '../../domain/event.ts'
import { textOf } from '../../domain/message.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { SessionRecord } from '../../domain/session.ts'
import { BETWEEN_MESSAGES, createRunFold, foldedTypes, isBrokenOff, parseArguments } from '../answer/run-answer.ts'
import type { AnswerEncoder } from '../answer/stream-answer.ts'
import { answerMessage, isoTime, requestMetadata } from './chat-message.ts'
import { errorKind } from './error-type.ts'
import type { ThreadEvent } from './schema.ts'

/** The session's id as its client knows it. */
export const threadIdOf = ({ alias, id }: Pick<SessionRecord, 'alias' | 'id'>): string => alias ?? id

export function createThreadEncoder(session: SessionRecord, run: RunRecord): AnswerEncoder {
  const threadId = threadIdOf(session)
  const fold = createRunFold()
  const calls = new Map<string, { name: string; args: string; endedAt: number }>()
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

  function toolStart({ toolCallId, timestamp = 0 }: RunEventOf<'TOOL_CALL_END'>): ThreadEvent[] {
    const call = calls.get(toolCallId)
    if (call === undefined) return []
    call.endedAt = timestamp
    const named = { tool_call_id: toolCallId, tool_name: call.name }
    return [{ event: 'tool_start', ...shared(timestamp), ...named, arguments: parseArguments(call.args) }]
  }

  function toolEnd(event: RunEventOf<'TOOL_CALL_RESULT'>, isError: boolean): ThreadEvent {
    const { toolCallId, content, timestamp = 0 } = event
    const call = calls.get(toolCallId)
    const text = textOf(content)
    return {
      event: 'tool_end',
      ...shared(timestamp),
      tool_call_id: toolCallId,
      tool_name: call?.name ?? '',
      ...(isError ? { result: null, error: text } : { result: text }),
      execution_time_ms: Math.max(0, timestamp - (call?.endedAt ?? timestamp)),
    }
  }

  const failed = (code: string, message: string, timestamp: number): ThreadEvent => {
    const { type, recoverable } = errorKind(code)
    return { event: 'error', ...shared(timestamp), error_type: type, error_message: message, recoverable }
  }

  function finished(event: RunEventOf<'RUN_FINISHED'>, isFailed: (messageId: string) => boolean): ThreadEvent[] {
    const { timestamp = 0 } = event
    const answer = fold.answer(new Set(fold.resultIds.filter(isFailed)))
    if (answer === null) return []
    if (answer.outcome === 'cancelled') return [failed('cancelled', 'The run was stopped.', timestamp)]
    const waits =
      answer.outcome === 'waiting'
        ? { status: 'waiting' as const, run_id: run.wireId, approval_ids: answer.waitsFor }
        : {}
    const message = answerMessage(answer, timestamp, requestMetadata(run))
    return [{ event: 'message_complete', ...shared(timestamp), message, ...waits }]
  }

  function threadEvents(event: RunEvent, isFailed: (messageId: string) => boolean): ThreadEvent[] {
    switch (event.type) {
      case 'TOOL_CALL_START':
        calls.set(event.toolCallId, { name: event.toolCallName, args: '', endedAt: event.timestamp ?? 0 })
        return []
      case 'TOOL_CALL_ARGS': {
        const call = calls.get(event.toolCallId)
        if (call !== undefined) call.args += event.delta
        return []
      }
      case 'TOOL_CALL_END':
        // Arguments that stopped half-way are no call.
        return isBrokenOff(event.metadata) ? [] : toolStart(event)
      case 'TOOL_CALL_RESULT':
        return [toolEnd(event, isFailed(event.messageId))]
      case 'RUN_FINISHED':
        return finished(event, isFailed)
      case 'RUN_ERROR':
        return [failed(event.code ?? 'internal_error', event.message, event.timestamp ?? 0)]
      default:
        return []
    }
  }

  return {
    reads: foldedTypes,
    encode(event, isFailed) {
      fold.add(event)
      if (event.type === 'TEXT_MESSAGE_CONTENT') return [{ data: token(event) }]
      return threadEvents(event, isFailed).map((one) => ({ data: JSON.stringify(one) }))
    },
  }
}
