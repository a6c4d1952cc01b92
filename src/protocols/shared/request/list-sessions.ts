import { ServerError } from '../../../domain/errors.ts'
import { present } from '../../../domain/present.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { SessionFilters, SessionPage } from '../../../engine/ports/sessions.ts'
import { type Page, placeIn, printPlace, queryProblem, refusePlace } from './page.ts'

/**
 * A page of an owner's sessions. `before` is the id of the last session of the previous page, or its `next`,
 * which keeps its place even if that session was used or deleted meanwhile. `next` is null on the last page. Throws `invalid_request`.
 */
export async function listSessions(
  engine: Pick<Engine, 'sessions'>,
  query: Pick<SessionPage, 'owner' | 'label' | 'order'> & SessionFilters,
  { limit, before }: Page,
) {
  const place = before === undefined ? null : placeIn(before)
  const isByTokens = query.order === 'tokens'
  if (isByTokens && place === null && before !== undefined) refusePlace()
  const from = place === null ? before : { lastActivity: place.createdAt, tokens: place.createdAt, id: place.id }
  const found = await engine.sessions
    .list(present({ ...query, limit: limit + 1, before: from }))
    .catch((error: unknown) => {
      if (!(error instanceof ServerError) || error.code !== 'session_not_found') throw error
      throw queryProblem({ pointer: 'before', detail: 'Send the id of the last session of the previous page.' })
    })
  const sessions = found.slice(0, limit)
  const last = sessions.at(-1)
  const isLast = found.length <= limit || last === undefined
  if (isLast) return { sessions, next: null }
  const [overview] = isByTokens ? await engine.sessions.overview([last.id]) : []
  return { sessions, next: printPlace({ createdAt: overview?.tokens ?? last.lastActivity, id: last.id }) }
}
