// "OpenAI-compatible" servers differ in small ways, and strict ones refuse a request with one unknown key. Everything that depends on
// the server is decided here, by its host (and for Azure also by the provider's name).

import type { ModelSettings } from '../../domain/agent/agent.ts'
import { baseUrl } from '../wire/base-url.ts'

export interface Dialect {
  url: URL
  azure: boolean
  maxTokensKey: 'max_tokens' | 'max_completion_tokens'
  /** Sends `stream_options` to get usage. Mistral refuses the key and reports usage anyway. */
  streamOptions: boolean
  /** Sends reasoning back to the model. DeepSeek, Moonshot and Z.ai require it; Groq and Mistral refuse it. */
  returnReasoning: boolean
  /** The server knows `response_format: json_schema`. Otherwise the schema goes into the system text. */
  jsonSchema: boolean
  /** Mistral accepts only ids of nine letters and digits. */
  shortCallIds: boolean
  /** The server knows `prompt_cache_key`, which sends the requests of one conversation to the same cache. */
  promptCacheKey: boolean
}

const OPENAI_URL = 'https://api.openai.com/v1'
const OLLAMA_URL = 'http://127.0.0.1:11434/v1'

export function dialectOf(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>): Dialect {
  const url = baseUrl(settings, standardUrl(settings.provider))
  // Users write Ollama's address as host and port only.
  if (settings.provider === 'ollama' && url.pathname === '/') url.pathname = '/v1'
  const host = url.hostname
  const at = (...domains: string[]) => domains.some((domain) => host === domain || host.endsWith(`.${domain}`))
  const openai = at('openai.com')
  const azure =
    settings.provider === 'azure' || at('openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com')
  const mistral = at('mistral.ai')
  const deepseek = at('deepseek.com')
  return {
    url,
    azure,
    maxTokensKey: openai || azure ? 'max_completion_tokens' : 'max_tokens',
    streamOptions: !mistral,
    returnReasoning: deepseek || at('moonshot.ai', 'moonshot.cn', 'z.ai', 'bigmodel.cn'),
    jsonSchema: !deepseek,
    shortCallIds: mistral,
    promptCacheKey: openai,
  }
}

function standardUrl(provider: string): string {
  if (provider === 'ollama') return OLLAMA_URL
  // Azure has no common address: every resource has its own.
  return provider === 'azure' ? '' : OPENAI_URL
}
