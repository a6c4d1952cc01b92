// What the search takes and answers, for the OpenAPI document.

import { z } from 'zod'
import { MAX_QUERY_CHARS } from '../../../domain/search-words.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { RouteDescription } from '../../../http/route-description.ts'
import { TimeSchema } from '../../shared/request/session-row-schema.ts'
import { SearchSchema } from './schema.ts'

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
      ...answer('A page of sessions.', SearchSchema),
      headers: { Link: 'The next page, as `rel="next"`; absent on the last one.' },
    },
  },
  errors: ['invalid_request', 'forbidden', 'storage_failed'],
}
