// What agents keep about users: everybody sees, corrects and erases their own, and an operator all.

import { z } from 'zod'
import { isoTime } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Memories, Memory } from '../../../engine/memories/memories.ts'
import { answer } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Oversight } from '../../../supervision/oversight/oversight.ts'
import { viewerOf } from '../../shared/request/caller.ts'
import { agentIn, ownerIn, queryProblem } from '../../shared/request/page.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import {
  type Forgotten,
  ForgottenSchema,
  type MemoryList,
  MemoryListSchema,
  MemorySchema,
  MemoryTextSchema,
  type Memory as WireMemory,
} from './schema.ts'

export interface MemoryRoutesDeps {
  memories: Memories
  oversight: Pick<Oversight, 'listing'>
}

const MOST_SHOWN = 1_000
const tag = 'Memories'

export function createMemoryRoutes({ memories, oversight }: MemoryRoutesDeps): Route[] {
  /** Whose: the caller's own, or for an operator those of another user. The audit trail says who asked. */
  async function ownerOf(request: Request): Promise<string> {
    const owner = ownerIn(request.query) ?? request.principal.owner
    if (owner !== request.principal.owner) await oversight.listing(viewerOf(request), owner)
    return owner
  }

  /** A change is of one user's. */
  async function changedOwner(request: Request): Promise<string> {
    if (ownerIn(request.query) !== '*') return ownerOf(request)
    throw queryProblem({ pointer: 'owner', detail: 'Name one user.' })
  }

  /** A token for one agent sees and changes what that agent keeps. */
  const filterOf = ({ principal, query }: Request) => {
    const asked = agentIn(query)
    const isOther = principal.agent !== undefined && asked !== undefined && asked !== principal.agent
    return { agent: principal.agent ?? asked, isOther }
  }

  async function list(request: Request, reply: Reply): Promise<void> {
    const owner = await ownerOf(request)
    const { agent, isOther } = filterOf(request)
    const found = owner === '*' ? await memories.all() : [{ owner, memories: await memories.of(owner) }]
    const all = found
      .flatMap((one) => one.memories.map((memory) => view(one.owner, memory)))
      .filter((one) => !isOther && (agent === undefined || one.agent === agent))
      .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    const body: MemoryList = { memories: all.slice(0, MOST_SHOWN), complete: all.length <= MOST_SHOWN }
    await reply.jsonPieces(200, body)
  }

  async function correct(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    const owner = await changedOwner(request)
    const { text } = validBody(MemoryTextSchema, await request.json(), 'The body has no text to keep.')
    const corrected = await memories.correct(owner, { id, agent: request.principal.agent }, text)
    if (corrected === null) throw notFound(id)
    request.log.info('a memory was corrected', { memory_id: id, owner })
    reply.json(200, view(owner, corrected))
  }

  async function forget(request: Request, reply: Reply): Promise<void> {
    const { id = '' } = request.params
    const owner = await changedOwner(request)
    if ((await memories.forget(owner, { id, agent: request.principal.agent })) === 0) throw notFound(id)
    request.log.info('a memory was erased', { memory_id: id, owner })
    reply.empty(204)
  }

  async function forgetAll(request: Request, reply: Reply): Promise<void> {
    const owner = await changedOwner(request)
    const { agent, isOther } = filterOf(request)
    const body: Forgotten = { forgotten: isOther ? 0 : await memories.forget(owner, { agent }) }
    request.log.info('all memories were erased', { ...body, owner })
    reply.json(200, body)
  }

  const { get, patch, del } = routeHeads(null, 'user')
  const params = { id: z.string().describe('`memory_id` of the fact.') }
  const agent = z.string().min(1).max(128).optional().describe('Only what this agent keeps.')
  const owner = z.string().optional().describe('For operators: the user. The audit trail says who asked.')
  return [
    {
      ...get,
      path: '/memories',
      summary: 'List what agents keep about you',
      describe: () => ({
        tag,
        description: `Facts that agents with \`memory: true\` keep between sessions; at most the newest ${MOST_SHOWN}.`,
        query: {
          owner: z
            .string()
            .optional()
            .describe('For operators: of this user, or of all (`*`). The audit trail says who asked.'),
          agent,
        },
        responses: { 200: answer('The facts.', MemoryListSchema) },
        errors: ['invalid_request', 'forbidden', 'storage_failed'],
      }),
      handle: list,
    },
    {
      ...patch,
      path: '/memories/:id',
      summary: 'Correct a fact that an agent keeps about you',
      describe: () => ({
        tag,
        description: 'The agent is told the new text from the next message on.',
        params,
        query: { owner },
        body: { schema: MemoryTextSchema, examples: { corrected: { text: 'Is allergic to hazelnuts.' } } },
        responses: { 200: answer('The fact.', MemorySchema, { corrected_at: '2026-11-16T08:30:00.000Z' }) },
        errors: ['invalid_request', 'forbidden', 'record_not_found', 'conflict', 'storage_full', 'storage_failed'],
      }),
      handle: correct,
    },
    {
      ...del,
      path: '/memories/:id',
      summary: 'Erase a fact that an agent keeps about you',
      describe: () => ({
        tag,
        params,
        query: { owner },
        responses: { 204: { description: 'It is erased. What conversations say stays in them.' } },
        errors: ['invalid_request', 'forbidden', 'record_not_found', 'storage_failed'],
      }),
      handle: forget,
    },
    {
      ...del,
      path: '/memories',
      summary: 'Forget everything that agents keep about you',
      describe: () => ({
        tag,
        query: { owner, agent },
        responses: { 200: answer('They are erased.', ForgottenSchema) },
        errors: ['invalid_request', 'forbidden', 'storage_failed'],
      }),
      handle: forgetAll,
    },
  ]
}

const notFound = (id: string): ServerError =>
  new ServerError('record_not_found', `There is no fact ${JSON.stringify(id.slice(0, 100))}.`)

const view = (owner: string, { id, agent, text, session, run, at, correctedAt }: Memory): WireMemory => ({
  memory_id: id,
  owner,
  agent,
  text,
  session_id: session,
  run_id: run,
  created_at: isoTime(at),
  corrected_at: correctedAt === null ? null : isoTime(correctedAt),
})
