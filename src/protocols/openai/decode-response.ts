// The body of POST /v1/responses. Pure.

import { ServerError } from '../../domain/errors.ts'
import { inputProblems } from '../request/input-problems.ts'
import { noCallerTools, refuseTools, textOfContent } from './content-schema.ts'
import { checkedName } from './decode-chat.ts'
import { type Item, ResponseRequestSchema } from './response-schema.ts'
import type { Turn } from './turns.ts'

export interface ResponseRequest {
  agent: string | null
  input: InputTurn[]
  instructions: string | null
  conversation: string | null
  previousResponseId: string | null
  stream: boolean
  user: string | null
  metadata: Record<string, unknown>
}

/** A turn, or the id of one that this server has said before. */
export type InputTurn = Turn | { role: 'reference'; id: string; index: number }

/** Throws `invalid_request`, `malformed_id`, or `not_available_yet` for tools of the caller, images and files. */
export function decodeResponse(body: unknown): ResponseRequest {
  const parsed = ResponseRequestSchema.safeParse(body)
  if (!parsed.success) {
    const problems = inputProblems(parsed.error.issues)
    throw new ServerError('invalid_request', 'The body is no valid response request.', { problems })
  }
  const { model, input, instructions, previous_response_id, conversation, stream, user, metadata, tools } = parsed.data
  refuseTools(tools)
  if (conversation != null && previous_response_id != null) {
    throw new ServerError('invalid_request', 'The request names two conversations.', {
      problems: [{ pointer: '/previous_response_id', detail: 'Send it or conversation, not both.' }],
    })
  }
  return {
    agent: model ?? null,
    input: typeof input === 'string' ? [{ role: 'user', text: input }] : input.flatMap(turnsOf),
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
  if ('role' in item) {
    const { role } = item
    const text = textOfContent(item.content)
    return [{ role: role === 'user' || role === 'assistant' ? role : 'instructions', text }]
  }
  if ('id' in item) return [{ role: 'reference', id: item.id, index }]
  if (item.type === 'reasoning') return []
  throw noCallerTools()
}
