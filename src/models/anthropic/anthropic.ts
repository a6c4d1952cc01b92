import type { ModelSettings } from '../../domain/agent/agent.ts'
import { targetOf } from '../failure.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createAnthropicDecoder } from './decode.ts'
import { anthropicProbe, anthropicRequests, apiRoot } from './request.ts'

export function createAnthropicModel(settings: ModelSettings, deps: WireDeps): Model {
  const target = targetOf(settings, apiRoot(settings).host, 'ANTHROPIC_API_KEY')
  return createWireModel(
    {
      target,
      request: anthropicRequests(settings),
      decoder: () => createAnthropicDecoder(target, deps.newId),
      probe: anthropicProbe(settings),
      // Gateways in front of Anthropic rarely have this route.
      probeNamesModel: settings.baseUrl === undefined,
    },
    deps,
  )
}
