import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { isRecord } from '../../domain/is-record.ts'
import type { Logger } from '../../domain/logger.ts'
import { present } from '../../domain/present.ts'
import { providerFailure } from '../ai-sdk/failure.ts'
import { loadEmbeddingModel } from '../ai-sdk/load-provider.ts'
import { modelFailure, targetOf } from '../failure.ts'
import { baseUrl } from '../wire/base-url.ts'
import { countAt } from '../wire/json.ts'
import type { EmbeddingSource } from './resilient-embedding.ts'

const MOST_TEXTS = 64

/** Uses the embeddings of any provider package of the AI SDK. */
export async function createAiSdkEmbedding(
  settings: EmbeddingSettings,
  deps: { directory: string; now: () => number; log: Logger; fetch: typeof fetch },
): Promise<EmbeddingSource> {
  const model = await loadEmbeddingModel(settings, deps.directory, deps.fetch)
  const host = settings.baseUrl === undefined ? `the provider of ${settings.package}` : baseUrl(settings, '').host
  const named = targetOf(settings, host, 'the variable of its key', 'embedding')
  const target = { ...named, provider: settings.package ?? settings.provider }
  // E.g. `openai.embedding`.
  const maker = typeof model.provider === 'string' ? (model.provider.split('.')[0] ?? '') : ''
  const limit: unknown = await model.maxEmbeddingsPerCall

  return {
    provider: settings.provider,
    name: settings.name,
    host,
    most: { texts: typeof limit === 'number' && limit >= 1 ? Math.min(MOST_TEXTS, limit) : MOST_TEXTS, tokens: 20_000 },
    async ask(texts, purpose, signal) {
      const providerOptions = { [maker]: optionsOf(maker, settings.dimensions, purpose) }
      let answer: unknown
      try {
        answer = await model.doEmbed({ values: [...texts], abortSignal: signal, providerOptions })
      } catch (error) {
        signal.throwIfAborted()
        const failure = providerFailure(error, target, deps.now())
        if (failure.cause === error && error instanceof Error) {
          deps.log.error('provider package failed', { package: settings.package, error: error.stack })
        }
        throw failure
      }
      if (isRecord(answer) && Array.isArray(answer.embeddings)) {
        return { vectors: answer.embeddings, inputTokens: countAt(answer.usage, 'tokens') }
      }
      const message = `The package ${settings.package} did not return embeddings. Try: npm install ${settings.package}@latest`
      throw modelFailure('model_failed', message, target, { retryable: false })
    },
  }
}

/** The interface has no common word for these. */
function optionsOf(maker: string, dimensions: number | null, purpose: 'passage' | 'query') {
  const length = dimensions ?? undefined
  const isQuery = purpose === 'query'
  switch (maker) {
    case 'google':
      return present({
        taskType: isQuery ? 'RETRIEVAL_QUERY' : 'RETRIEVAL_DOCUMENT',
        outputDimensionality: length,
      })
    case 'cohere':
      return present({ inputType: isQuery ? 'search_query' : 'search_document', outputDimension: length })
    default:
      return present({ dimensions: length })
  }
}
