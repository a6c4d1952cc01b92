// Decodes the bodies of POST /v1/chat/completions and POST /v1/responses. Pure.

import type { z } from 'zod'
import { ServerError } from '../../domain/errors.ts'
import { isClientId } from '../../domain/ids.ts'
import { unreachable } from '../../domain/unreachable.ts'
import { longTextProblems, validBody } from '../shared/request/validate.ts'
import { decodeFormat } from './answer-format.ts'
import { decodeCallerTools } from './caller-tools.ts'
import { ChatRequestSchema } from './chat-schema.ts'
import { decodeContent, metadataProblems, textOfContent } from './content-schema.ts'
import { type Item, ResponseRequestSchema } from './response-schema.ts'
import type { Turn } from './turns.ts'

/**
 * `session` is the name of the conversation; null if the request names none. `props` are passed on to the agent's tools. Throws
 * `invalid_request` or `malformed_id`.
 */
export function decodeChat(body: unknown, sessionHeader: string | undefined) {
  const sent = validRequest(ChatRequestSchema, body, 'The body is not a valid chat completion request.')
  const { model, messages, stream, stream_options, user, metadata, tools, tool_choice, response_format } = sent
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

/** Throws `invalid_request` with this message, and with what is wrong where. */
function validRequest<T extends { metadata?: unknown }>(schema: z.ZodType<T>, body: unknown, refusal: string): T {
  const tooLarge = metadataProblems(body)
  if (tooLarge.length > 0) throw new ServerError('invalid_request', refusal, { problems: tooLarge })
  const sent = validBody(schema, body, refusal)
  const problems = longTextProblems(sent.metadata, ['metadata'])
  if (problems.length > 0) throw new ServerError('invalid_request', refusal, { problems })
  return sent
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
function checkedName(name: unknown, pointer: string): string {
  if (typeof name === 'string' && isClientId(name)) return name
  throw new ServerError('malformed_id', 'This is not a valid name of a conversation.', {
    problems: [{ pointer, detail: 'Send 1 to 128 printable characters.' }],
  })
}

export type ResponseRequest = ReturnType<typeof decodeResponse>

/** A turn, or the id of an earlier turn of this server. */
export type InputTurn = Turn | { role: 'reference'; id: string; index: number }

/** Throws `invalid_request`, `malformed_id`, or `not_available_yet` for tools that are not functions. */
export function decodeResponse(body: unknown) {
  const sent = validRequest(ResponseRequestSchema, body, 'The body is not a valid response request.')
  const { model, input, instructions, previous_response_id, conversation, stream, user, metadata } = sent
  const name = typeof conversation === 'string' ? conversation : conversation?.id
  if (conversation != null && previous_response_id != null) {
    throw new ServerError('invalid_request', 'The request names two conversations.', {
      problems: [{ pointer: '/previous_response_id', detail: 'Send it or conversation, not both.' }],
    })
  }
  return {
    agent: model ?? null,
    input: typeof input === 'string' ? [{ role: 'user' as const, text: input, files: [] }] : input.flatMap(turnsOf),
    callerTools: decodeCallerTools(sent.tools, sent.tool_choice),
    format: decodeFormat(sent.text?.format, 'text/format'),
    instructions: instructions ?? null,
    conversation: name == null ? null : checkedName(name, '/conversation'),
    previousResponseId:
      previous_response_id == null ? null : checkedName(previous_response_id, '/previous_response_id'),
    stream: stream === true,
    user: user ?? null,
    metadata: metadata ?? {},
  }
}

function turnsOf(item: Item, index: number): InputTurn[] {
  switch (item.type) {
    case 'message':
    case undefined:
    case null: {
      const { role } = item
      const path = ['input', index, 'content']
      if (role === 'user') return [{ role, ...decodeContent(item.content, path) }]
      return [{ role: role === 'assistant' ? role : 'instructions', text: textOfContent(item.content, path) }]
    }
    case 'item_reference':
      return [{ role: 'reference', id: item.id, index }]
    case 'reasoning':
      return []
    case 'function_call': {
      const { call_id: id, name, arguments: args } = item
      return [{ role: 'assistant', text: '', calls: [{ id, type: 'function', function: { name, arguments: args } }] }]
    }
    case 'function_call_output':
      return [{ role: 'tool', callId: item.call_id, text: textOfContent(item.output, ['input', index, 'output']) }]
    default:
      throw new ServerError(
        'not_available_yet',
        `The tools of a caller can only be functions. Leave out items of the type ${item.type}.`,
      )
  }
}
