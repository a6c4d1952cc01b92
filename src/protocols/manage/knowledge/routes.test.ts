import { expect, test } from 'vitest'
import type { KnowledgeToolSettings } from '../../../domain/agent/tool-settings.ts'
import type { Reply, Request } from '../../../http/route.ts'
import type { Knowledge, KnowledgeIndex } from '../../../knowledge/knowledge.ts'
import { createKnowledgeRoutes } from './routes.ts'

const toolWith = (source: string) =>
  ({ type: 'knowledge', name: 'docs', sources: [source] }) as unknown as KnowledgeToolSettings

test.each(['/knowledge/:id', '/knowledge/:id/update'])(
  'a token for one agent finds no index of another one at %s',
  async (path) => {
    const cleared: string[] = []
    const indexes = ['own', 'other'].map(
      (id) =>
        ({
          id,
          clear: async () => void cleared.push(id),
          update: async () => void cleared.push(id),
          status: async () => ({ sources: [], problems: [], progress: null, updatedAt: null }),
        }) as unknown as KnowledgeIndex,
    )
    const knowledge: Knowledge = {
      all: indexes,
      of: ({ sources }) => indexes.find(({ id }) => id === sources[0]) as KnowledgeIndex,
    }
    const agents = ['own', 'other'].map((name) => ({ name, tools: [toolWith(name)] }))
    const route = createKnowledgeRoutes({ knowledge, agents, spent: async () => {} }).find(
      (one) => one.path === path && one.method !== 'GET',
    )
    const ask = async (id: string) =>
      route?.handle(
        { params: { id }, principal: { agent: 'own', user: 'ada' }, log: { info() {} } } as unknown as Request,
        { empty() {}, json() {} } as unknown as Reply,
      )

    await expect(ask('other')).rejects.toMatchObject({ code: 'record_not_found' })
    await ask('own')
    expect(cleared).toEqual(['own'])
  },
)

test('the tokens of a search that somebody tries are counted', async () => {
  const usage = { provider: 'demo', model: 'demo', inputTokens: 3, outputTokens: 0, totalTokens: 3 }
  const index = { search: async () => ({ hits: [], usage: [usage], lacks: [] }) } as unknown as KnowledgeIndex
  const counted: unknown[] = []
  const routes = createKnowledgeRoutes({
    knowledge: { all: [index], of: () => index },
    agents: [{ name: 'clerk', tools: [toolWith('docs')] }],
    spent: async (...args) => void counted.push(args),
  })
  const request = { principal: {}, json: async () => ({ agent: 'clerk', query: 'leave' }) } as unknown as Request
  await routes.find(({ path }) => path === '/knowledge/search')?.handle(request, { json() {} } as unknown as Reply)
  expect(counted).toEqual([['clerk', [usage]]])
})
