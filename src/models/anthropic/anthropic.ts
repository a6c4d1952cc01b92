import type { ModelSettings } from '../../domain/agent.ts'
import type { ModelTarget } from '../failure.ts'
import type { Model } from '../model.ts'
import type { ModelHttp } from '../wire/model-http.ts'
import { createWireModel } from '../wire/wire-model.ts'
import { createAnthropicDecoder } from './decode.ts'
import { anthropicProbe, anthropicRequests, apiRoot } from './request.ts'

export function createAnthropicModel(
  settings: ModelSettings,
  deps: { http: ModelHttp; now: () => number; newId: () => string },
): Model {
  const target: ModelTarget = {
    provider: settings.provider,
    model: settings.name,
    host: apiRoot(settings).host,
    keyVariable: 'ANTHROPIC_API_KEY',
    ...(settings.apiKey === undefined || settings.apiKey === 'none' ? {} : { apiKey: settings.apiKey }),
  }
  return createWireModel(
    {
      target,
      request: anthropicRequests(settings),
      decoder: () => createAnthropicDecoder(target, deps.newId),
      probe: anthropicProbe(settings),
      // Gateways in front of Anthropic seldom have this route.
      probeNamesModel: settings.baseUrl === undefined,
    },
    deps,
  )
}
