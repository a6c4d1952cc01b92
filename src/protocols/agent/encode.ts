// Encodes a run for the agent routes. Pure.

import type { TokenUsage } from '../../domain/session/event.ts'
import type { RunRecord } from '../../domain/session/run.ts'
import type { RunAnswer } from '../../domain/session/run-answer.ts'
import type { ChatAnswer, TokensUsed, Waiting } from './schema.ts'

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
  }
}

export const waitingView = (run: RunRecord, approvalIds: string[]): Waiting => ({
  status: 'waiting',
  run_id: run.wireId,
  approval_ids: approvalIds,
})

/** The sum over all models; null if none reported its tokens. */
export function tokensUsed(usage: readonly TokenUsage[]): TokensUsed | null {
  if (usage.length === 0) return null
  const sum = (count: (one: TokenUsage) => number | undefined) =>
    usage.reduce((total, one) => total + (count(one) ?? 0), 0)
  return {
    prompt_tokens: sum((one) => one.inputTokens),
    completion_tokens: sum((one) => one.outputTokens),
    total_tokens: sum((one) => one.totalTokens),
  }
}
