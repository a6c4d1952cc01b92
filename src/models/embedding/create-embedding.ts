import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import type { ModelDeps } from '../create-model.ts'
import { checkKey, httpFor, invalid, keyVariables, type ProviderName } from '../provider-access.ts'
import type { Embedding } from './embedding.ts'
import { createResilientEmbedding, type EmbeddingSource } from './resilient-embedding.ts'

/** `directory`: the agent's folder, where provider packages are installed. */
export type EmbeddingDeps = Omit<ModelDeps, 'ids'>

/** Providers that have embeddings. `openai` with `base_url` is every compatible server. */
export const embeddingProviders = ['openai', 'azure', 'google', 'ollama', 'ai-sdk', 'demo'] as const

/**
 * Makes the embedding that the settings describe, with its retries and its timeout. The provider's code is loaded only here. Throws
 * `config_invalid` for settings that can never work. It never makes another embedding than the one in the settings.
 */
export async function createEmbedding(settings: EmbeddingSettings, deps: EmbeddingDeps): Promise<Embedding> {
  const provider = embeddingProviders.find((one) => one === settings.provider)
  if (provider === undefined) {
    throw invalid(
      `embedding.provider: ${JSON.stringify(settings.provider)} has no embeddings that this server knows. Write one of ${embeddingProviders.join(', ')}. For a server that speaks OpenAI's protocol, write provider: openai and its base_url.`,
    )
  }
  checkKey(settings, keyVariables[provider satisfies ProviderName], 'embedding')
  const source = await createSource(provider, settings, deps)
  return createResilientEmbedding(source, settings, deps)
}

async function createSource(
  provider: (typeof embeddingProviders)[number],
  settings: EmbeddingSettings,
  { http, clock, directory, log }: EmbeddingDeps,
): Promise<EmbeddingSource> {
  const now = () => clock.now()
  const connected = () => httpFor(settings, http, 'embedding')
  switch (provider) {
    case 'openai':
    case 'azure':
    case 'ollama': {
      if (provider === 'azure' && settings.baseUrl === undefined) {
        throw invalid(
          'provider: azure needs the address of your resource. Set AZURE_OPENAI_ENDPOINT, or write base_url: https://<resource>.openai.azure.com',
        )
      }
      const { openAiEmbedding } = await import('./openai-embedding.ts')
      const { createWireEmbedding } = await import('./wire-embedding.ts')
      return createWireEmbedding(settings, openAiEmbedding(settings), { http: await connected(), now })
    }
    case 'google': {
      const { googleEmbedding } = await import('./google-embedding.ts')
      const { createWireEmbedding } = await import('./wire-embedding.ts')
      return createWireEmbedding(settings, googleEmbedding(settings), { http: await connected(), now })
    }
    case 'ai-sdk': {
      const { createAiSdkEmbedding } = await import('./ai-sdk-embedding.ts')
      const { fetch } = await connected()
      return createAiSdkEmbedding(settings, { directory, now, log, fetch })
    }
    case 'demo': {
      const { createDemoEmbedding } = await import('./demo-embedding.ts')
      return createDemoEmbedding(settings)
    }
  }
}
