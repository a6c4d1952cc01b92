// What the search takes and answers, for the OpenAPI document.

import { z } from 'zod'
import { MAX_QUERY_CHARS } from '../../../domain/search-words.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { SessionRowShape, TimeSchema } from '../../shared/request/session-row.ts'

const { pending: _pending, tokens: _tokens, ...row } = SessionRowShape

const HitSchema = z.strictObject({
  message_id: z.string().nullable().describe('Null: the title or the prompt of an agent elsewhere.'),
  role: z.enum(['user', 'assistant', 'tool', 'title']),
  at: z.iso.datetime(),
  text: z.string().describe('The part of the text around what was found. Hidden characters are marked, as `<U+202E>`.'),
  marks: z
    .array(z.array(z.int().min(0)).length(2))
    .describe('Where in `text` it was found: from and to, counted in UTF-16 units as JavaScript does.'),
})

const SearchSchema = z.strictObject({
  results: z.array(
    z.strictObject({
      session_id: z.string(),
      ...row,
      hits: z.array(HitSchema).describe('The title, and up to three messages, newest first.'),
    }),
  ),
  complete: z.boolean().describe('False: older sessions are still being indexed. Search again later to find more.'),
})

export const describeSearch: RouteDescription = {
  tag: 'Sessions and runs',
  description:
    'Searches in what users and agents said, in the names of tools and the beginning of their results, and in titles and prompts of agents elsewhere. Sessions with a matching title come first, then those with the newest matching message. A page may be short, even empty, and still have a next one.',
  query: {
    q: z
      .string()
      .max(MAX_QUERY_CHARS)
      .describe(
        'Words, "phrases" and beginnings of words (`quart*`); the last word may be a beginning without the star. A beginning has three letters or more. All of them must be in one text. Case and accents do not matter.',
      ),
    owner: z
      .string()
      .optional()
      .describe(
        'For operators: in the sessions of this owner, or of all owners (`*`). The audit trail says who asked.',
      ),
    agent: z.string().min(1).max(128).optional().describe('Only in sessions of this agent.'),
    since: TimeSchema.optional().describe('Only in texts from this time on.'),
    until: TimeSchema.optional().describe('Only in texts up to this time.'),
    limit: z.int().min(1).max(50).default(20),
    before: z.string().optional().describe('From the Link header of the page before.'),
  },
  responses: {
    200: {
      description: 'A page of sessions.',
      headers: { Link: 'The next page, as `rel="next"`; absent on the last one.' },
      content: {
        'application/json': {
          schema: SearchSchema,
          example: {
            results: [
              {
                session_id: 'holiday',
                owner: 'ada',
                agent: 'assistant',
                title: 'Where to in May?',
                kind: 'chat',
                status: 'open',
                updated_at: '2026-11-15T09:00:02.125Z',
                hits: [
                  {
                    message_id: '0192f3a1-7b2c-7def-8abc-0123456789ab',
                    role: 'assistant',
                    at: '2026-11-15T09:00:02.125Z',
                    text: 'To the sea.',
                    marks: [[7, 10]],
                  },
                ],
              },
            ],
            complete: true,
          },
        },
      },
    },
  },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
}
