import type { ModelSettings } from '../../domain/agent/agent.ts'
import type { Model } from '../model.ts'
import { createWireModel, type WireDeps } from '../wire/wire-model.ts'
import { createOpenAiDecoder } from './decode.ts'
import { openAiApi } from './request.ts'

/** Chat completions, for OpenAI, Azure, Ollama and every compatible server. */
export const createOpenAiModel = (settings: ModelSettings, deps: WireDeps): Model =>
  createWireModel(settings, openAiApi(settings), createOpenAiDecoder, deps)
