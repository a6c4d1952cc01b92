// The body of POST /v1/chat/completions. Pure.

import { ServerError } from '../../domain/errors.ts'
import { isClientId } from '../../domain/ids.ts'
import { inputProblems } from '../request/input-problems.ts'
import { ChatRequestSchema } from './chat-schema.ts'
import { noCallerTools, refuseTools, textOfContent } from './content-schema.ts'
import type { Turn } from './turns.ts'

export interface ChatRequest {
  agent: string | null
  turns: Turn[]
  /** What the conversation is called; null: there is none to continue. */
  session: string | null
  stream: boolean
  includeUsage: boolean
  /** For the agent's tools. */
  props: Record<string, unknown>
}

/** Throws `invalid_request`, `malformed_id`, or `not_available_yet` for tools of the caller, images and files. */
export function decodeChat(body: unknown, sessionHeader: string | undefined): ChatRequest {
  const parsed = ChatRequestSchema.safeParse(body)
  if (!parsed.success) {
    const problems = inputProblems(parsed.error.issues)
    throw new ServerError('invalid_request', 'The body is no valid chat completion request.', { problems })
  }
  const { model, messages, stream, stream_options, user, metadata, tools, functions } = parsed.data
  refuseTools(tools, functions)
  return {
    agent: model ?? null,
    turns: messages.map(turnOf),
    session: sessionOf(metadata?.session_id, sessionHeader),
    stream: stream === true,
    includeUsage: stream_options?.include_usage === true,
    props: { ...(user == null ? {} : { user }), ...(metadata == null ? {} : { metadata }) },
  }
}

type Message = ReturnType<typeof ChatRequestSchema.parse>['messages'][number]

function turnOf(message: Message): Turn {
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'instructions', text: textOfContent(message.content) }
    case 'user':
      return { role: 'user', text: textOfContent(message.content) }
    case 'assistant':
      refuseTools(message.tool_calls, message.function_call == null ? null : [message.function_call])
      return { role: 'assistant', text: textOfContent(message.content ?? message.refusal) }
    default:
      throw noCallerTools()
  }
}

function sessionOf(inBody: unknown, inHeader: string | undefined): string | null {
  const name = inBody ?? inHeader
  if (name == null) return null
  if (inHeader !== undefined && name !== inHeader) {
    throw new ServerError('invalid_request', 'The request names two conversations.', {
      problems: [{ pointer: '/metadata/session_id', detail: 'Send the same as in X-Session-Id, or only one of them.' }],
    })
  }
  return checkedName(name, '/metadata/session_id')
}

/** Throws `malformed_id` for what can name no conversation. */
export function checkedName(name: unknown, pointer: string): string {
  if (typeof name === 'string' && isClientId(name)) return name
  throw new ServerError('malformed_id', 'That names no conversation.', {
    problems: [{ pointer, detail: 'Send 1 to 128 printable characters.' }],
  })
}
