import type { ModelSettings } from '../../domain/agent/agent.ts'
import { targetOf } from '../failure.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createGoogleDecoder } from './decode.ts'
import { apiRoot, googleProbe, googleRequests } from './request.ts'

export function createGoogleModel(settings: ModelSettings, deps: WireDeps): Model {
  const target = targetOf(settings, apiRoot(settings).host, 'GOOGLE_API_KEY (or GEMINI_API_KEY)')
  return createWireModel(
    {
      target,
      request: googleRequests(settings),
      decoder: () => createGoogleDecoder(target, deps.newId),
      probe: googleProbe(settings),
      probeNamesModel: settings.baseUrl === undefined,
    },
    deps,
  )
}
