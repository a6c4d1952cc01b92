// The embeddings with which the served agents search their documents, for the route that offers them.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import type { Embedding } from '../models/embedding/embedding.ts'
import type { Embeddings } from '../protocols/openai/embed.ts'
import type { UsageBeside } from '../store/ports/usage.ts'
import type { Documents } from './knowledge/knowledge-of.ts'
import type { Prepared } from './prepare-app.ts'

interface EmbeddingParts extends Pick<Prepared, 'agents'> {
  answering: { definition: Pick<AgentDefinition, 'name'> }
  documents: Pick<Documents, 'embeddingOf'>
  spent(usage: UsageBeside): Promise<unknown>
  clock: Pick<Clock, 'now'>
}

export function createEmbeddings({ agents, answering, documents, spent, clock }: EmbeddingParts): Embeddings {
  // Who names nobody gets that of the agent who answers then, if it has one.
  const [first] = agents.filter(({ name }) => name === answering.definition.name)
  const served = [...(first === undefined ? [] : [first]), ...agents].filter(({ internal }) => !internal)
  const all = served.flatMap(({ name: agent, tools }) =>
    tools.flatMap((tool) => {
      const embedding = tool.type === 'knowledge' ? documents.embeddingOf(tool) : null
      return embedding === null ? [] : [{ agent, embedding }]
    }),
  )

  return {
    of(model, onlyAgent) {
      const allowed = all.filter(({ agent }) => onlyAgent === undefined || agent === onlyAgent)
      // The name of an agent counts more than that of a model.
      const found =
        model === undefined
          ? allowed[0]
          : (allowed.find(({ agent }) => agent === model) ?? allowed.find(({ embedding }) => embedding.name === model))
      if (found === undefined) return null
      return counted(found.embedding, (usage) => spent({ at: clock.now(), agent: found.agent, usage }))
    },
  }
}

const counted = (embedding: Embedding, spent: (usage: UsageBeside['usage']) => Promise<unknown>): Embedding => ({
  ...embedding,
  async embed(texts, purpose, signal) {
    const embedded = await embedding.embed(texts, purpose, signal)
    if (embedded.usage !== null) await spent(embedded.usage)
    return embedded
  },
})
