// The documents of agents. Whoever may talk to an agent may open a passage that it cites; the rest is for operators.

import { z } from 'zod'
import type { AgentDefinition } from '../../../domain/agent/agent.ts'
import type { KnowledgeToolSettings } from '../../../domain/agent/tool-settings.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { TokenUsage } from '../../../domain/session/event.ts'
import { refuseOtherAgent } from '../../../domain/supervision/token-role.ts'
import { answer, listOf } from '../../../http/describe-answer.ts'
import type { Reply, Request, Route } from '../../../http/route.ts'
import type { Knowledge, KnowledgeIndex } from '../../../knowledge/knowledge.ts'
import { callerOf } from '../../shared/request/caller.ts'
import { queryProblem } from '../../shared/request/page.ts'
import { validBody } from '../../shared/request/validate.ts'
import { routeHeads } from '../../shared/route-heads.ts'
import {
  KnowledgeFoundSchema,
  KnowledgeIndexSchema,
  KnowledgeQuerySchema,
  PassageListSchema,
  type KnowledgeIndex as WireKnowledgeIndex,
} from './schema.ts'
import { foundView, indexView, passageView } from './views.ts'

export interface KnowledgeRoutesDeps {
  /** Null: no agent has documents. */
  knowledge: Knowledge | null
  agents: readonly Pick<AgentDefinition, 'name' | 'tools'>[]
  /** Counts the tokens of a search that no run has asked for. */
  spent(agent: string, usage: readonly TokenUsage[]): Promise<unknown>
}

const MOST_AROUND = 10
const tag = 'Knowledge'

export function createKnowledgeRoutes({ knowledge, agents, spent }: KnowledgeRoutesDeps): Route[] {
  const uses = agents.flatMap(({ name, tools }) =>
    tools.filter((tool) => tool.type === 'knowledge').map((tool) => ({ agent: name, tool })),
  )
  const indexOf = (tool: KnowledgeToolSettings): KnowledgeIndex => {
    if (knowledge === null) throw new Error('an agent with documents has knowledge')
    return knowledge.of(tool)
  }

  function toolIn(agent: string, name: string | undefined): KnowledgeToolSettings {
    const ofAgent = uses.filter((one) => one.agent === agent)
    const found = ofAgent.find(({ tool }) => name === undefined || tool.name === name)
    if (found !== undefined) return found.tool
    throw new ServerError(
      'record_not_found',
      ofAgent.length === 0
        ? `The agent ${JSON.stringify(agent)} has no documents: it has no tool of type knowledge.`
        : `The agent ${agent} has no documents named ${JSON.stringify(name)}. It has: ${ofAgent.map(({ tool }) => tool.name).join(', ')}.`,
    )
  }

  /** What an answer of this agent may cite: its own documents, and those of agents that it calls or hands over to. */
  function citableBy(agent: string): KnowledgeToolSettings[] {
    const reached = new Set([agent])
    for (const name of reached) {
      const { tools = [] } = agents.find((one) => one.name === name) ?? {}
      for (const tool of tools) if (tool.type === 'agent') reached.add(tool.agent)
    }
    return [...reached].flatMap((name) => uses.flatMap((one) => (one.agent === name ? [one.tool] : [])))
  }

  async function viewOf(index: KnowledgeIndex): Promise<WireKnowledgeIndex> {
    const usedBy = uses.filter(({ tool }) => indexOf(tool) === index)
    return indexView(
      await index.status(),
      usedBy.map(({ agent, tool }) => ({ agent, tool: tool.name })),
    )
  }

  async function list({ principal }: Request, reply: Reply): Promise<void> {
    const all = await Promise.all((knowledge?.all ?? []).map(viewOf))
    const { agent: only } = principal
    const indexes = all.filter(({ used_by }) => only === undefined || used_by.some(({ agent }) => agent === only))
    await reply.jsonPieces(200, { indexes })
  }

  async function search(request: Request, reply: Reply): Promise<void> {
    const sent = validBody(KnowledgeQuerySchema, await request.json(), 'The body does not say what to look for.')
    refuseOtherAgent(request.principal.agent, sent.agent)
    const found = await indexOf(toolIn(sent.agent, sent.tool)).search(sent.query, sent.passages, request.signal)
    if (found.usage.length > 0) await spent(sent.agent, found.usage)
    reply.json(200, foundView(found))
  }

  async function read({ principal, query, params: { id = '' } }: Request, reply: Reply): Promise<void> {
    const agent = query.get('agent') ?? ''
    refuseOtherAgent(principal.agent, agent)
    const name = query.get('tool') ?? undefined
    const [before, after] = [countIn(query, 'before'), countIn(query, 'after')]
    const tools = citableBy(agent).filter((tool) => name === undefined || tool.name === name)
    for (const tool of tools.length === 0 ? [toolIn(agent, name)] : tools) {
      const found = await indexOf(tool).around(id, before, after)
      if (found.length > 0) return reply.json(200, { passages: found.map(passageView) })
    }
    throw new ServerError('record_not_found', 'The documents do not say this any more, or they are being read again.')
  }

  /** A token that is limited to an agent changes no index that this agent does not have. */
  const byId = ({ principal: { agent: only }, params: { id = '' } }: Request): KnowledgeIndex => {
    const isOfAgent = (index: KnowledgeIndex): boolean =>
      only === undefined || uses.some(({ agent, tool }) => agent === only && indexOf(tool) === index)
    const found = knowledge?.all.find((one) => one.id === id && isOfAgent(one))
    if (found === undefined)
      throw new ServerError('record_not_found', `There is no index ${JSON.stringify(id.slice(0, 100))}.`)
    return found
  }

  async function update(request: Request, reply: Reply): Promise<void> {
    const index = byId(request)
    request.log.info('an index is brought up to date', { index: index.id, by: callerOf(request).user })
    // It may take hours. What it says of itself is in its status.
    void index.update(new AbortController().signal).catch(() => {})
    reply.json(202, await viewOf(index))
  }

  async function clear(request: Request, reply: Reply): Promise<void> {
    const index = byId(request)
    await index.clear()
    request.log.info('an index was cleared', { index: index.id, by: callerOf(request).user })
    reply.empty(204)
  }

  const { get, post, del } = routeHeads(null, 'operator')
  const one = { id: z.string().describe('`id` of the index.') }
  const side = (where: string) => z.int().min(0).max(MOST_AROUND).default(0).describe(`How many passages ${where} it.`)
  return [
    {
      ...get,
      path: '/knowledge',
      summary: 'List the indexes of documents',
      describe: () => ({
        tag,
        responses: { 200: listOf('indexes', KnowledgeIndexSchema, 'The indexes, with what could not be read.') },
        errors: ['storage_failed'],
      }),
      handle: list,
    },
    {
      ...post,
      path: '/knowledge/search',
      summary: 'Try a search in the documents of an agent',
      describe: () => ({
        tag,
        description: 'What the tool of the agent would find, with scores.',
        body: {
          schema: KnowledgeQuerySchema,
          examples: { question: { agent: 'clerk', query: 'How long is parental leave?' } },
        },
        responses: { 200: answer('The best passages first.', KnowledgeFoundSchema) },
        errors: ['invalid_request', 'forbidden', 'record_not_found', 'not_ready', 'storage_failed'],
      }),
      handle: search,
    },
    {
      ...routeHeads(null, 'user').get,
      path: '/knowledge/passages/:id',
      summary: 'Open a passage that an answer cites',
      describe: () => ({
        tag,
        description: 'Whoever may talk to an agent may read its documents.',
        params: { id: z.string().describe('`id` of a source.') },
        query: {
          agent: z.string().min(1).max(128).describe('The agent that cites it.'),
          tool: z
            .string()
            .min(1)
            .max(128)
            .optional()
            .describe('The tool that found it. Default: any that the agent, or one that it calls, has.'),
          before: side('before'),
          after: side('after'),
        },
        responses: { 200: answer('The passage and its neighbours, in order.', PassageListSchema) },
        errors: ['invalid_request', 'forbidden', 'record_not_found', 'not_ready', 'storage_failed'],
      }),
      handle: read,
    },
    {
      ...post,
      path: '/knowledge/:id/update',
      summary: 'Look for changed files now',
      describe: () => ({
        tag,
        params: one,
        responses: { 202: answer('The index as it is now.', KnowledgeIndexSchema) },
        errors: ['record_not_found', 'not_ready', 'storage_failed'],
      }),
      handle: update,
    },
    {
      ...del,
      path: '/knowledge/:id',
      summary: 'Clear an index',
      describe: () => ({
        tag,
        description: 'All files are read again, and embedded again where that is configured.',
        params: one,
        responses: { 204: { description: 'It is empty.' } },
        errors: ['record_not_found', 'not_ready', 'storage_full', 'storage_failed'],
      }),
      handle: clear,
    },
  ]
}

function countIn(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? '0'
  const count = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (count <= MOST_AROUND) return count
  throw queryProblem({ pointer: name, detail: `Send a number from 0 to ${MOST_AROUND}.` })
}
