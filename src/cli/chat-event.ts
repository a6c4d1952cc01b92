// AG-UI events as the terminal needs them. Tolerant: the server may be newer than this program.

export type ChatEvent =
  | { type: 'text'; messageId: string; delta: string }
  | { type: 'reasoning'; delta: string }
  | { type: 'tool_call'; id: string; name: string }
  | { type: 'tool_args'; id: string; delta: string }
  | { type: 'tool_result'; id: string; content: string }
  | { type: 'finished'; outcome: 'success' | 'interrupt' | 'cancelled' }
  | { type: 'failed'; code: string; message: string }

/** Null for what a terminal has no use for. */
export function decodeChatEvent(data: string): ChatEvent | null {
  const event = parse(data)
  const text = (key: string): string => {
    const value = event[key]
    return typeof value === 'string' ? value : ''
  }
  switch (event.type) {
    case 'TEXT_MESSAGE_CONTENT':
      return { type: 'text', messageId: text('messageId'), delta: text('delta') }
    case 'REASONING_MESSAGE_CONTENT':
      return { type: 'reasoning', delta: text('delta') }
    case 'TOOL_CALL_START':
      return { type: 'tool_call', id: text('toolCallId'), name: text('toolCallName') }
    case 'TOOL_CALL_ARGS':
      return { type: 'tool_args', id: text('toolCallId'), delta: text('delta') }
    case 'TOOL_CALL_RESULT':
      return { type: 'tool_result', id: text('toolCallId'), content: text('content') }
    case 'RUN_FINISHED':
      return { type: 'finished', outcome: outcomeOf(event.outcome) }
    case 'RUN_ERROR':
      return { type: 'failed', code: text('code'), message: text('message') }
    default:
      return null
  }
}

export const endsRun = (event: ChatEvent): boolean => event.type === 'finished' || event.type === 'failed'

function outcomeOf(outcome: unknown): 'success' | 'interrupt' | 'cancelled' {
  if (typeof outcome !== 'object' || outcome === null || !('type' in outcome)) return 'success'
  return outcome.type === 'interrupt' || outcome.type === 'cancelled' ? outcome.type : 'success'
}

function parse(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
  } catch {
    return {}
  }
}
