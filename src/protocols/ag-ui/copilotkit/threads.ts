// The list of threads, in the shape that CopilotKit's client reads.

import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { SessionRecord } from '../../../domain/session/session.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Request } from '../../../http/route.ts'
import { listSessions } from '../../shared/request/list-sessions.ts'
import { decodePage, type Page, queryProblem } from '../../shared/request/page.ts'
import { agentNamed } from './encode.ts'
import type { Thread, ThreadList } from './schema.ts'

const LIMITS = { max: 200, fallback: 50 }
/** Sessions of other agents are skipped. After this many pages the list ends early, with a cursor. */
const MOST_PAGES = 20

/** A page of the caller's threads, newest first. Throws `agent_not_found` and `invalid_request`. */
export async function listThreads(
  engine: Pick<Engine, 'agents' | 'sessions'>,
  { principal: { owner }, query }: Pick<Request, 'principal' | 'query'>,
): Promise<ThreadList> {
  const agentId = query.get('agentId')
  const agent = agentId === null ? null : engine.agents.get(agentNamed(engine, agentId)).name
  const { limit } = decodePage({ query }, LIMITS)
  const threads: Thread[] = []
  let cursor = query.get('cursor')
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page: Page = { limit: limit - threads.length, ...(cursor === null ? {} : { before: cursor }) }
    const { sessions, next } = await listSessions(engine, { owner }, page).catch((error: unknown) => {
      if (!(error instanceof ServerError) || error.code !== 'invalid_request') throw error
      throw queryProblem({ pointer: 'cursor', detail: 'Send the nextCursor of the previous page.' })
    })
    for (const session of sessions) {
      if (agent === null || session.agent === agent) threads.push(threadOf(session, agentId ?? session.agent))
    }
    cursor = next
    if (cursor === null || threads.length >= limit) break
  }
  return { threads, nextCursor: cursor }
}

function threadOf({ id, alias, owner, createdAt, lastActivity }: SessionRecord, agentId: string): Thread {
  const used = isoTime(lastActivity)
  return {
    id: alias ?? id,
    // Organizations exist only in CopilotKit's cloud.
    organizationId: '',
    agentId,
    createdById: owner,
    name: null,
    archived: false,
    createdAt: isoTime(createdAt),
    updatedAt: used,
    lastRunAt: used,
  }
}
