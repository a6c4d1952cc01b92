import { validBody } from '../shared/request/validate.ts'
import { ThreadChatSchema, ToolResultSchema } from './schema.ts'

/** Throws `invalid_request`. */
export function decodeThreadChat(body: unknown) {
  const { message, thread_id, stream, metadata } = validBody(
    ThreadChatSchema,
    body,
    'The body is not a valid chat request.',
  )
  return { message, threadId: thread_id ?? null, stream: stream ?? true, metadata: metadata ?? null }
}

/** `content` is the text for the model. Throws `invalid_request`. */
export function decodeToolResult(body: unknown) {
  const { execution_id, result, error, execution_time_ms } = validBody(
    ToolResultSchema,
    body,
    'The body is not a valid tool result.',
  )
  return {
    executionId: execution_id,
    content: error ?? (typeof result === 'string' ? result : JSON.stringify(result)),
    isError: error != null,
    durationMs: execution_time_ms,
  }
}
