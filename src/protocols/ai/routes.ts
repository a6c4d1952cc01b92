// The chat of the AI SDK: `useChat` with a `DefaultChatTransport` whose `api` is `/ai/chat`.

import { z } from 'zod'
import type { ResponseDescription, Route } from '../../http/route.ts'
import { fileErrors, startErrors } from '../shared/answer/error-lists.ts'
import { startHeaderSchemas } from '../shared/request/start-headers.ts'
import { routeHeads } from '../shared/route-heads.ts'
import { type AiDeps, answerChat, resumeChat } from './answer-chat.ts'
import { exampleChat, UiChatSchema, UiChunkSchema } from './schema.ts'

const tag = 'useChat'

const chunks: ResponseDescription = {
  description: 'The chunks of one message, then `[DONE]`.',
  headers: { 'x-vercel-ai-ui-message-stream': 'v1' },
  content: {
    'text/event-stream': {
      schema: z.union([UiChunkSchema, z.literal('[DONE]')]),
      example: { type: 'text-delta', id: 'text-1', delta: 'Hello' },
    },
  },
}

export function createAiRoutes(deps: AiDeps): Route[] {
  const { get, post } = routeHeads('ai', 'user')
  return [
    {
      ...post,
      path: '/ai/chat',
      body: 'files',
      summary: 'Send what `useChat` of the AI SDK sends, read its UI message stream',
      describe: () => ({
        tag,
        description:
          'The server keeps the history. It takes new messages of the user, results of tools that the page ran (`addToolOutput`), and answers to approvals (`addToolApprovalResponse`). A known message with another text is an edit, and one with the same text wants another answer; both go on from that message. Keys that are not listed reach the tools of the agent. A page that disconnects has `limits.disconnect_grace` to come back.',
        headers: startHeaderSchemas,
        body: { schema: UiChatSchema, examples: { message: exampleChat } },
        responses: { 200: chunks, 204: { description: 'With `Last-Event-ID`: the run has no further events.' } },
        errors: [
          ...startErrors,
          ...fileErrors,
          'forbidden',
          'approval_not_found',
          'approval_changed',
          'approval_expired',
        ],
      }),
      handle: (request, reply) => answerChat(deps, request, reply),
    },
    {
      ...get,
      path: '/ai/chat/:id/stream',
      summary: 'Read the message that is being written, from its beginning',
      describe: () => ({
        tag,
        description:
          'For `resumeStream` and `resume: true` of `useChat`. The message that is being written, or that waits for a person or for the page, is sent from its beginning, then live.',
        params: { id: z.string().describe("The chat's id.") },
        headers: { 'Last-Event-ID': startHeaderSchemas['Last-Event-ID'] },
        responses: { 200: chunks, 204: { description: 'No message is open.' } },
        errors: ['malformed_id', 'session_not_found', 'run_not_found', 'events_gone', 'rate_limited', 'storage_failed'],
      }),
      handle: (request, reply) => resumeChat(deps, request, reply),
    },
  ]
}
