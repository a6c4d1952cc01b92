import type { StoredMessage, ToolCall } from '../../domain/session/message.ts'

export interface OpenCalls {
  /** The agent's answers since the user's last message, without those that broke off. */
  answers: StoredMessage[]
  /** The calls of the last answer that have no result yet. */
  calls: ToolCall[]
}

export function openCalls(history: readonly StoredMessage[]): OpenCalls {
  const since = history.slice(history.findLastIndex((message) => message.role === 'user') + 1)
  const answered = new Set(since.flatMap((message) => (message.toolCallId === undefined ? [] : [message.toolCallId])))
  const answers = since.filter((message) => message.role === 'assistant' && message.brokenOff !== true)
  return { answers, calls: (answers.at(-1)?.toolCalls ?? []).filter((call) => !answered.has(call.id)) }
}
