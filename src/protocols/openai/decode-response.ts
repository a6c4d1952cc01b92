// Decodes the body of POST /v1/responses. Pure.

import { type InputProblem, ServerError } from '../../domain/errors.ts'
import { inputProblems, longTextProblems, validate } from '../shared/request/validate.ts'
import { type AnswerFormat, decodeFormat } from './answer-format.ts'
import { type CallerTools, decodeCallerTools } from './caller-tools.ts'
import { decodeContent, metadataProblems, textOfContent } from './content-schema.ts'
import { checkedName } from './decode-chat.ts'
import { type Item, ResponseRequestSchema } from './response-schema.ts'
import type { Turn } from './turns.ts'

export interface ResponseRequest {
  agent: string | null
  input: InputTurn[]
  callerTools: CallerTools
  format: AnswerFormat | null
  instructions: string | null
  conversation: string | null
  previousResponseId: string | null
  stream: boolean
  user: string | null
  metadata: Record<string, unknown>
}

/** A turn, or the id of an earlier turn of this server. */
export type InputTurn = Turn | { role: 'reference'; id: string; index: number }

/** Throws `invalid_request`, `malformed_id`, or `not_available_yet` for tools that are not functions. */
export function decodeResponse(body: unknown): ResponseRequest {
  const refused = (problems: InputProblem[]) =>
    new ServerError('invalid_request', 'The body is not a valid response request.', { problems })
  const tooLarge = metadataProblems(body)
  if (tooLarge.length > 0) throw refused(tooLarge)
  const parsed = validate(ResponseRequestSchema, body)
  const problems = parsed.success
    ? longTextProblems(parsed.data.metadata, ['metadata'])
    : inputProblems(parsed.issues, body)
  if (!parsed.success || problems.length > 0) throw refused(problems)
  const { model, input, instructions, previous_response_id, conversation, stream, user, metadata } = parsed.data
  if (conversation != null && previous_response_id != null) {
    throw new ServerError('invalid_request', 'The request names two conversations.', {
      problems: [{ pointer: '/previous_response_id', detail: 'Send it or conversation, not both.' }],
    })
  }
  return {
    agent: model ?? null,
    input: typeof input === 'string' ? [{ role: 'user', text: input, files: [] }] : input.flatMap(turnsOf),
    callerTools: decodeCallerTools(parsed.data.tools, parsed.data.tool_choice),
    format: decodeFormat(parsed.data.text?.format, 'text/format'),
    instructions: instructions ?? null,
    conversation: conversation == null ? null : conversationOf(conversation),
    previousResponseId:
      previous_response_id == null ? null : checkedName(previous_response_id, '/previous_response_id'),
    stream: stream === true,
    user: user ?? null,
    metadata: metadata ?? {},
  }
}

const conversationOf = (conversation: string | { id: string }): string =>
  checkedName(typeof conversation === 'string' ? conversation : conversation.id, '/conversation')

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
