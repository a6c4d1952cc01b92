// The embeddings of the served agents, for the route that offers them. A provider is loaded when somebody asks for it.

import type { AgentDefinition, EmbeddingSettings } from '../domain/agent/agent.ts'
import type { Embedding } from '../models/embedding/embedding.ts'
import { createModelHttp } from '../models/wire/model-http.ts'
import type { Embeddings } from '../protocols/openai/embed.ts'
import type { Prepared } from './prepare-app.ts'

type EmbeddingParts = Pick<Prepared, 'agents' | 'answering' | 'connections' | 'clock' | 'log' | 'version'>

export function createEmbeddings(parts: EmbeddingParts): Embeddings {
  const { connections, clock, log, version } = parts
  // Who names nobody gets that of the agent who answers then, if it has one.
  const [first] = parts.agents.filter(({ name }) => name === parts.answering.definition.name)
  const served = [...(first === undefined ? [] : [first]), ...parts.agents].filter(({ internal }) => !internal)
  const all = served.flatMap(settingsOf)
  const opened = new Map<EmbeddingSettings, Promise<Embedding>>()

  async function open(settings: EmbeddingSettings, directory: string): Promise<Embedding> {
    const { createEmbedding } = await import('../models/embedding/create-embedding.ts')
    const http = createModelHttp({ connections, clock, userAgent: `quarterdeck/${version}` })
    return createEmbedding(settings, { http, clock, random: Math.random, log, directory })
  }

  return {
    async of(model) {
      // The name of an agent counts more than that of a model.
      const found =
        model === undefined
          ? all[0]
          : (all.find(({ agent }) => agent === model) ?? all.find(({ settings }) => settings.name === model))
      if (found === undefined) return null
      const { settings, directory } = found
      const known = opened.get(settings)
      if (known !== undefined) return known
      const opening = open(settings, directory)
      opened.set(settings, opening)
      // What could not be opened is tried again.
      opening.catch(() => opened.delete(settings))
      return opening
    },
  }
}

const settingsOf = ({ name: agent, tools, directory }: AgentDefinition) =>
  tools.flatMap((tool) =>
    tool.type === 'knowledge' && tool.embedding !== null ? [{ agent, settings: tool.embedding, directory }] : [],
  )
