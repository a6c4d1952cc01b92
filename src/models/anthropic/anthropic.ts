import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createAnthropicDecoder } from './decode.ts'
import { anthropicApi } from './request.ts'

export const createAnthropicModel = (settings: ModelSettings, deps: WireDeps): Model =>
  createWireModel(settings, anthropicApi(settings), createAnthropicDecoder, deps)
