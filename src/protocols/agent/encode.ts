// Encodes a run for the agent routes. Pure.

import type { ServerError } from '../../domain/errors.ts'
import type { RunEvent, RunEventOf, RunEventType, TokenUsage } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import {
  BETWEEN_MESSAGES,
  errorOf,
  isBrokenOff,
  isFailedResult,
  outcomeOf,
  type RunAnswer,
  waitsFor,
} from '../../domain/session/run-answer.ts'
import { type Citations, citationsIn, joinedCitations } from '../../domain/session/source.ts'
import type { Problem } from '../../http/problem.ts'
import { failureOf } from '../shared/answer/answer-failure.ts'
import { answerSources, sourcesView } from '../shared/answer/sources.ts'
import type { AnswerEncoder } from '../shared/answer/stream-answer.ts'
import { waitingView } from '../shared/answer/waiting.ts'
import type { ChatAnswer, StreamEventName, TokensUsed } from './schema.ts'

export function chatResponse(answer: RunAnswer, messageId: string, sessionId: string): ChatAnswer {
  return {
    message_id: messageId,
    content: answer.text,
    session_id: sessionId,
    tool_calls: answer.toolCalls.map(({ name, arguments: args, status }) => ({
      name,
      arguments: args,
      status: status === 'success' ? 'success' : 'error',
    })),
    tokens_used: tokensUsed(answer.usage),
    execution_time_ms: answer.durationMs,
    ...answerSources(answer),
  }
}

/** The sum over all models; null if none reported its tokens. */
function tokensUsed(usage: readonly TokenUsage[]): TokensUsed | null {
  if (usage.length === 0) return null
  const sum = (count: (one: TokenUsage) => number | undefined) =>
    usage.reduce((total, one) => total + (count(one) ?? 0), 0)
  return {
    prompt_tokens: sum((one) => one.inputTokens),
    completion_tokens: sum((one) => one.outputTokens),
    total_tokens: sum((one) => one.totalTokens),
  }
}

// Encodes the events of a run as the named events of the agent routes. They have no words for steps, reasoning and state; a client
// that needs these uses AG-UI.

interface StreamOf {
  run: RunRecord
  /** The ids as the client sees them. */
  messageId: string
  sessionId: string
  problem(error: ServerError): Problem
}

const reads: ReadonlySet<RunEventType> = new Set<RunEventType>([
  'RUN_STARTED',
  'TEXT_MESSAGE_CONTENT',
  'TEXT_MESSAGE_END',
  'TOOL_CALL_START',
  'TOOL_CALL_ARGS',
  'TOOL_CALL_END',
  'TOOL_CALL_RESULT',
  'RUN_FINISHED',
  'RUN_ERROR',
])

export function createStreamEncoder({ run, messageId, sessionId, problem }: StreamOf): AnswerEncoder {
  let startedAt: number | null = null
  let speaking: string | null = null
  const cited: (Citations | null)[] = []
  // There is one per token, so everything but the text is made once.
  const deltaEnd = `,"message_id":${JSON.stringify(messageId)}}`

  /** All deltas together equal `content` of the answer without a stream. */
  function deltaOf(event: RunEventOf<'TEXT_MESSAGE_CONTENT'>): string {
    const isNext = speaking !== null && speaking !== event.messageId
    speaking = event.messageId
    return isNext ? BETWEEN_MESSAGES + event.delta : event.delta
  }

  function end(event: RunEventOf<'RUN_FINISHED' | 'RUN_ERROR'>) {
    const outcome = outcomeOf(event)
    const failure = failureOf(
      { outcome, error: event.type === 'RUN_ERROR' ? errorOf(event) : null },
      { session_id: sessionId, message_id: messageId },
    )
    if (failure !== null) return named('error', problem(failure))
    const waiting =
      event.type === 'RUN_FINISHED' && outcome === 'waiting' ? waitingView(run, waitsFor(event).approvalIds) : undefined
    const endedAt = event.timestamp ?? 0
    return named('stream_end', {
      message_id: messageId,
      tokens_used: tokensUsed(event.usage ?? []),
      execution_time_ms: Math.max(0, endedAt - (startedAt ?? endedAt)),
      ...sourcesView(joinedCitations(cited)),
      ...waiting,
    })
  }

  return {
    reads,
    encode(event: RunEvent) {
      switch (event.type) {
        case 'RUN_STARTED':
          startedAt = event.timestamp ?? null
          return [named('stream_start', { session_id: sessionId, message_id: messageId })]
        case 'TEXT_MESSAGE_CONTENT':
          return [{ event: 'message_delta', data: `{"delta":${JSON.stringify(deltaOf(event))}${deltaEnd}` }]
        case 'TEXT_MESSAGE_END':
          cited.push(citationsIn(event.metadata))
          return []
        case 'TOOL_CALL_START': {
          const { toolCallId, toolCallName } = event
          return [named('tool_call_start', { tool_call_id: toolCallId, name: toolCallName, message_id: messageId })]
        }
        case 'TOOL_CALL_ARGS':
          return [named('tool_call_args', { tool_call_id: event.toolCallId, args_delta: event.delta })]
        case 'TOOL_CALL_END':
          // A call whose arguments broke off never runs, so this is its last event.
          return isBrokenOff(event.metadata) ? [callEnd(event.toolCallId, true)] : []
        case 'TOOL_CALL_RESULT':
          return [callEnd(event.toolCallId, isFailedResult(event))]
        case 'RUN_FINISHED':
        case 'RUN_ERROR':
          return [end(event)]
        default:
          return []
      }
    },
  }
}

const named = (event: StreamEventName, data: object) => ({ event, data: JSON.stringify(data) })

const callEnd = (toolCallId: string, isError: boolean) =>
  named('tool_call_end', { tool_call_id: toolCallId, status: isError ? 'error' : 'success' })
