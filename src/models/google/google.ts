import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createGoogleDecoder } from './decode.ts'
import { googleApi } from './request.ts'

export const createGoogleModel = (settings: ModelSettings, deps: WireDeps): Model =>
  createWireModel(settings, googleApi(settings), createGoogleDecoder, deps)
