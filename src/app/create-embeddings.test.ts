import { expect, test } from 'vitest'
import type { AgentDefinition, EmbeddingSettings } from '../domain/agent/agent.ts'
import { silentLogger } from '../domain/logger.ts'
import { testAgent } from '../engine/testing/open-engine.ts'
import { createManualClock } from '../models/testing/manual-clock.ts'
import { createConnections } from '../outgoing/connections.ts'
import { createEmbeddings } from './create-embeddings.ts'
import type { Prepared } from './prepare-app.ts'
import { createReplicaClock } from './replica-clock.ts'

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
  const clock = createManualClock()
  return createEmbeddings({
    agents,
    answering: { definition: answering } as Prepared['answering'],
    connections: createConnections(),
    clock: createReplicaClock(clock),
    log: silentLogger,
    version: '0',
  })
}

test('an embedding has the name of its agent and its own, and who names nobody gets that of the one who answers', async () => {
  const crew = [agent('one', embedding('first')), agent('two', embedding('second')), agent('words', null)]
  const found = embeddingsOf(crew, crew[1] ?? testAgent)
  const nameOf = async (model?: string) => (await found.of(model))?.name ?? null

  expect(await Promise.all(['one', 'two', 'first', 'second', undefined, 'words', 'nobody'].map(nameOf))).toEqual([
    'first',
    'second',
    'first',
    'second',
    'second',
    null,
    null,
  ])
  expect(await found.of('one')).toBe(await found.of('first'))
})

test('the name of an agent counts more than that of a model, and agents that nobody may call have none', async () => {
  const crew = [
    agent('one', embedding('two')),
    agent('two', embedding('three')),
    agent('inner', embedding('x'), { internal: true }),
  ]
  const found = embeddingsOf(crew, testAgent)

  expect((await found.of('two'))?.name).toBe('three')
  expect([await found.of('inner'), await found.of('x')]).toEqual([null, null])
})

test('what cannot be opened is an error, and not that there is none', async () => {
  const found = embeddingsOf([agent('one', embedding('x', 'openai'))], testAgent)

  await expect(found.of('one')).rejects.toMatchObject({ code: 'config_invalid' })
})
