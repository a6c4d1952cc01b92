// Gemini's batchEmbedContents. Pure.

import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { isRecord } from '../../domain/is-record.ts'
import { apiRoot, headersOf, KEY_VARIABLE, modelName } from '../google/request.ts'
import { withPath } from '../wire/base-url.ts'
import { countAt } from '../wire/json.ts'
import type { EmbeddingApi } from './wire-embedding.ts'

export function googleEmbedding(settings: EmbeddingSettings): EmbeddingApi {
  const root = apiRoot(settings)
  const name = modelName(settings)
  return {
    host: root.host,
    keyVariable: KEY_VARIABLE,
    url: withPath(root, `/models/${name}:batchEmbedContents`),
    headers: headersOf(settings),
    most: { texts: 100, tokens: 20_000 },
    body: (texts, purpose) => ({
      requests: texts.map((text) => ({
        model: `models/${name}`,
        content: { parts: [{ text }] },
        taskType: purpose === 'query' ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        ...(settings.dimensions === null ? {} : { outputDimensionality: settings.dimensions }),
      })),
    }),
    read({ embeddings, usageMetadata }) {
      if (!Array.isArray(embeddings) || !embeddings.every(isRecord)) return null
      return {
        vectors: embeddings.map(({ values }) => values),
        inputTokens: countAt(usageMetadata, 'promptTokenCount'),
      }
    },
  }
}
