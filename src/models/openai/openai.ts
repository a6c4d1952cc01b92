import type { ModelSettings } from '../../domain/agent/agent.ts'
import { targetOf } from '../failure.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createOpenAiDecoder } from './decode.ts'
import { dialectOf } from './dialect.ts'
import { openAiProbe, openAiRequests } from './request.ts'

/** Chat completions, for OpenAI, Azure, Ollama and every compatible server. */
export function createOpenAiModel(settings: ModelSettings, deps: WireDeps): Model {
  const { url, azure } = dialectOf(settings)
  const target = targetOf(settings, url.host, azure ? 'AZURE_OPENAI_API_KEY' : 'OPENAI_API_KEY')
  const { namesModel, ...probe } = openAiProbe(settings)
  return createWireModel(
    {
      target,
      request: openAiRequests(settings),
      decoder: () => createOpenAiDecoder(target, deps.newId),
      probe,
      probeNamesModel: namesModel,
    },
    deps,
  )
}
