// Full-text search over sessions.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import type { MessageRole } from '../../../domain/session/message.ts'
import { MAX_QUERY_CHARS, parseSearch } from '../../../domain/session/search-words.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { SearchHit } from '../../../engine/ports/sessions.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { agentIn, decodePage, linked, nextLink, ownerIn, queryProblem, timeIn } from '../../shared/request/page.ts'
import { sessionRow, shownIdOf, TimeSchema } from '../../shared/request/session-row.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import { sessionTag } from '../sessions/decode.ts'
import { type Search, type SearchResult, SearchSchema } from './schema.ts'

export interface SearchRoutesDeps {
  engine: { sessions: Pick<Engine['sessions'], 'search' | 'overview'> }
  oversight: Pick<Oversight, 'listing'>
}

const PAGE = { max: 50, fallback: 20 }

export function createSearchRoutes({ engine, oversight }: SearchRoutesDeps): Route[] {
  async function search(request: Request, reply: Reply): Promise<void> {
    const { principal, query } = request
    const page = decodePage(request, PAGE)
    const terms = parseSearch(textIn(query))
    const asked = ownerIn(query) ?? principal.owner
    const [agent, since, until] = [agentIn(query), timeIn(query, 'since'), timeIn(query, 'until')]
    if (asked !== principal.owner) await oversight.listing(viewerOf(request), asked)
    const { found, next, isComplete } = await engine.sessions.search({
      terms,
      ...page,
      owner: asked === '*' ? undefined : asked,
      agent,
      since,
      until,
    })
    const overviews = await engine.sessions.overview(found.map(({ session }) => session.id))
    const rows = new Map(overviews.map((one) => [one.id, one]))
    const results = found.flatMap(({ session, hits }): SearchResult[] => {
      const overview = rows.get(session.id)
      // It was deleted a moment ago.
      if (overview === undefined) return []
      const { pending: _pending, tokens: _tokens, ...row } = sessionRow(session, overview)
      return [{ session_id: shownIdOf(session, principal.owner), ...row, hits: hits.map(hitView) }]
    })
    const body: Search = { results, complete: isComplete }
    reply.json(200, body, nextLink('/search', query, next))
  }

  return [
    {
      ...routeHeads(null, 'user').get,
      path: '/search',
      summary: 'Search in what was said',
      describe: () => ({
        tag: sessionTag,
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
        responses: { 200: linked(answer('A page of sessions.', SearchSchema)) },
        errors: ['invalid_request', 'forbidden', 'storage_failed'],
      }),
      handle: search,
    },
  ]
}

const hitView = ({ messageId, role, at, text, marks }: SearchHit): SearchResult['hits'][number] => ({
  message_id: messageId,
  role: role === null ? 'title' : (role as Extract<MessageRole, 'user' | 'assistant' | 'tool'>),
  at: isoTime(at),
  text,
  marks,
})

function textIn(query: URLSearchParams): string {
  const text = query.get('q')
  if (text !== null && text.length <= MAX_QUERY_CHARS) return text
  throw queryProblem({ pointer: 'q', detail: `Send up to ${MAX_QUERY_CHARS} characters to search for.` })
}
