// Decodes the body of POST /v1/chat/completions. Pure.

import { type InputProblem, ServerError } from '../../domain/errors.ts'
import { isClientId } from '../../domain/ids.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { inputProblems, longTextProblems, validate } from '../shared/request/validate.ts'
import { type AnswerFormat, decodeFormat } from './answer-format.ts'
import { type CallerTools, decodeCallerTools } from './caller-tools.ts'
import { ChatRequestSchema } from './chat-schema.ts'
import { decodeContent, metadataProblems, textOfContent } from './content-schema.ts'
import type { Turn } from './turns.ts'

export interface ChatRequest {
  agent: string | null
  turns: Turn[]
  callerTools: CallerTools
  format: AnswerFormat | null
  /** Name of the conversation; null if the request names none. */
  session: string | null
  stream: boolean
  includeUsage: boolean
  /** Passed on to the agent's tools. */
  props: Record<string, unknown>
}

/** Throws `invalid_request` or `malformed_id`. */
export function decodeChat(body: unknown, sessionHeader: string | undefined): ChatRequest {
  const refused = (problems: InputProblem[]) =>
    new ServerError('invalid_request', 'The body is not a valid chat completion request.', { problems })
  const tooLarge = metadataProblems(body)
  if (tooLarge.length > 0) throw refused(tooLarge)
  const parsed = validate(ChatRequestSchema, body)
  const problems = parsed.success
    ? longTextProblems(parsed.data.metadata, ['metadata'])
    : inputProblems(parsed.issues, body)
  if (!parsed.success || problems.length > 0) throw refused(problems)
  const { model, messages, stream, stream_options, user, metadata, tools, tool_choice, response_format } = parsed.data
  return {
    agent: model ?? null,
    turns: messages.map(turnOf),
    callerTools: decodeCallerTools(tools, tool_choice),
    format: decodeFormat(
      response_format && { ...response_format.json_schema, type: response_format.type },
      'response_format',
    ),
    session: sessionOf(metadata?.session_id, sessionHeader),
    stream: stream === true,
    includeUsage: stream_options?.include_usage === true,
    props: { ...(user == null ? {} : { user }), ...(metadata == null ? {} : { metadata }) },
  }
}

type Message = ReturnType<typeof ChatRequestSchema.parse>['messages'][number]

function turnOf(message: Message, index: number): Turn {
  const path = ['messages', index, 'content']
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'instructions', text: textOfContent(message.content, path) }
    case 'user':
      return { role: 'user', ...decodeContent(message.content, path) }
    case 'assistant':
      return {
        role: 'assistant',
        text: textOfContent(message.content ?? message.refusal, path),
        calls: message.tool_calls ?? [],
      }
    case 'tool':
      return { role: 'tool', callId: message.tool_call_id, text: textOfContent(message.content, path) }
    default:
      return unreachable(message)
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

/** Throws `malformed_id` for a name that no conversation can have. */
export function checkedName(name: unknown, pointer: string): string {
  if (typeof name === 'string' && isClientId(name)) return name
  throw new ServerError('malformed_id', 'This is not a valid name of a conversation.', {
    problems: [{ pointer, detail: 'Send 1 to 128 printable characters.' }],
  })
}
