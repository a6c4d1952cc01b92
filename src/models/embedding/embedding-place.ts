import type { EmbeddingSettings } from '../../domain/agent/agent.ts'
import { apiRoot } from '../google/request.ts'
import { dialectOf } from '../openai/dialect.ts'

/** Who gets the texts, for people: `openai (https://api.openai.com)`. Null: nobody, they stay in this process. */
export function embeddingPlace(settings: EmbeddingSettings): string | null {
  const { provider, package: name, baseUrl } = settings
  switch (provider) {
    case 'demo':
      return null
    case 'ai-sdk':
      return `${name}${baseUrl === undefined ? '' : ` (${new URL(baseUrl).origin})`}`
    case 'google':
      return `${provider} (${apiRoot(settings).origin})`
    default:
      return `${provider} (${dialectOf(settings).url.origin})`
  }
}
