// OpenAI's /embeddings, for OpenAI, Azure, Ollama and every compatible server. Pure.

import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { isRecord } from '../../domain/is-record.ts'
import { type Dialect, dialectOf } from '../openai/dialect.ts'
import { apiUrl, authHeaders, keyVariableOf } from '../openai/request.ts'
import { countAt, type JsonObject } from '../wire/json.ts'
import type { EmbeddingAnswer } from './resilient-embedding.ts'
import type { EmbeddingApi } from './wire-embedding.ts'

export function openAiEmbedding(settings: EmbeddingSettings): EmbeddingApi {
  const dialect = dialectOf(settings)
  const isOwn = isOwnServer(dialect)
  return {
    host: dialect.url.host,
    keyVariable: keyVariableOf(dialect),
    url: apiUrl(dialect, settings.name, 'embeddings'),
    headers: authHeaders(dialect, settings),
    // Many compatible servers take 32 texts, and compute all of them at once.
    most: isOwn ? { texts: 256, tokens: 100_000 } : { texts: 32, tokens: 8_000 },
    body: (texts, purpose) => ({
      model: settings.name,
      input: texts.map((text) => prefixOf(settings.name, purpose) + text),
      // A quarter of the bytes. Not all other servers know it.
      ...(isOwn ? { encoding_format: 'base64' } : {}),
      ...(settings.dimensions === null ? {} : { dimensions: settings.dimensions }),
    }),
    read,
  }
}

const isOwnServer = ({ azure, promptCacheKey }: Dialect): boolean => azure || promptCacheKey

/** Nomic's models expect the purpose in front of the text, and no server adds it. */
function prefixOf(name: string, purpose: 'passage' | 'query'): string {
  if (!name.includes('nomic-embed-text')) return ''
  return purpose === 'query' ? 'search_query: ' : 'search_document: '
}

function read({ data, usage }: JsonObject): EmbeddingAnswer | null {
  if (!Array.isArray(data) || !data.every(isRecord)) return null
  // Each says which text it is of. Servers send them in order, but do not promise it.
  const isNumbered = data.every(({ index }) => typeof index === 'number')
  const sorted = isNumbered ? data.toSorted((a, b) => Number(a.index) - Number(b.index)) : data
  return { vectors: sorted.map(({ embedding }) => embedding), inputTokens: countAt(usage, 'prompt_tokens') }
}
