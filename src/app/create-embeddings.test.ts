import { expect, test } from 'vitest'
import type { AgentDefinition, EmbeddingSettings } from '../domain/agent/agent.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import type { UsageBeside } from '../store/ports/usage.ts'
import { createEmbeddings } from './create-embeddings.ts'

const embedding = (name: string, provider = 'demo'): EmbeddingSettings => ({
  provider,
  name,
  retries: 0,
  dimensions: null,
  price: null,
})

const agent = (name: string, one: EmbeddingSettings | null, more: Partial<AgentDefinition> = {}): AgentDefinition =>
  ({
    ...testAgent,
    ...more,
    name,
    tools: [
      {
        type: 'knowledge',
        name: 'docs',
        description: null,
        sources: ['.'],
        directory: '/',
        folders: ['/'],
        ignore: [],
        embedding: one,
        effect: 'read',
        risk: 'low',
        timeoutMs: 1,
        retries: 0,
        approval: { ask: 'never' },
        predictState: [],
      },
    ],
  }) as AgentDefinition

function embeddingsOf(agents: AgentDefinition[], answering: AgentDefinition) {
  const spent: UsageBeside[] = []
  const vectors = { vectors: [], usage: { provider: 'demo', model: 'demo', inputTokens: 3 } }
  const embeddings = createEmbeddings({
    agents,
    answering: { definition: answering },
    documents: {
      embeddingOf: ({ embedding: settings }) =>
        settings === null ? null : { ...settings, most: { texts: 1, tokens: 1 }, embed: async () => vectors },
    },
    spent: async (usage) => void spent.push(usage),
    clock: { now: () => 7 },
  })
  return { spent, of: (model?: string, onlyAgent?: string) => embeddings.of(model, onlyAgent) }
}

test('an embedding has the name of its agent and its own, and who names nobody gets that of the one who answers', () => {
  const crew = [agent('one', embedding('first')), agent('two', embedding('second')), agent('words', null)]
  const found = embeddingsOf(crew, crew[1] ?? testAgent)
  const names = ['one', 'two', 'first', 'second', undefined, 'words', 'nobody']

  expect(names.map((name) => found.of(name)?.name ?? null)).toEqual([
    'first',
    'second',
    'first',
    'second',
    'second',
    null,
    null,
  ])
})

test('the name of an agent counts more than that of a model, and agents that nobody may call have none', () => {
  const crew = [
    agent('one', embedding('two')),
    agent('two', embedding('three')),
    agent('inner', embedding('x'), { internal: true }),
  ]
  const found = embeddingsOf(crew, testAgent)

  expect(found.of('two')?.name).toBe('three')
  expect([found.of('inner'), found.of('x')]).toEqual([null, null])
})

test('a token for one agent gets only its embedding, and what is spent counts for the agent', async () => {
  const found = embeddingsOf([agent('one', embedding('first')), agent('two', embedding('second'))], testAgent)

  expect([found.of('one', 'two'), found.of('first', 'two'), found.of(undefined, 'two')?.name]).toEqual([
    null,
    null,
    'second',
  ])
  await found.of('two')?.embed(['a'], 'passage', new AbortController().signal)
  expect(found.spent).toEqual([{ at: 7, agent: 'two', usage: { provider: 'demo', model: 'demo', inputTokens: 3 } }])
})
