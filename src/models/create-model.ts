import type { ModelInput, ModelSettings } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { Model, ModelAttachment, ModelMessage } from './model.ts'
import { checkKey, httpFor, invalid, keyVariables, type ProviderName } from './provider-access.ts'
import { createResilientModel } from './resilience/resilient-model.ts'
import type { ModelHttp } from './wire/model-http.ts'

export interface ModelDeps {
  /** Shared by all models of the process. The caller closes it. */
  http: ModelHttp
  clock: Clock
  ids: Ids
  /** Evenly spread over [0, 1). */
  random: () => number
  log: Logger
  /** The agent's folder. Scripts and provider packages are looked up from here. */
  directory: string
}

/**
 * Makes the model that `agent.yaml` describes, with its retries, timeouts and fallback. The provider's code is loaded only here.
 * Throws `config_invalid` for settings that can never work. It never makes another model than the one in the settings.
 */
export async function createModel(settings: ModelSettings, deps: ModelDeps): Promise<Model> {
  const primary = await createProvider(settings, deps)
  const fallback = settings.fallback === undefined ? null : await createFallback(settings.fallback, deps)
  const { clock, random, log } = deps
  return createResilientModel({ primary, fallback, settings, clock, random, log })
}

const createFallback = async (settings: ModelSettings, deps: ModelDeps): Promise<Model> =>
  withSupportedAttachments(await createModel(settings, deps), settings.input ?? [])

/**
 * The model, asked only with attachments that it can read. A line of text replaces each of the others. Requests are built for the
 * agent's first model, and its fallback may read fewer kinds of files.
 */
export function withSupportedAttachments(model: Model, input: readonly ModelInput[]): Model {
  const takes = ({ type }: ModelAttachment): boolean => input.includes(type === 'image' ? 'image' : 'pdf')

  function accepted(message: ModelMessage): ModelMessage {
    if (message.role !== 'user' || message.attachments === undefined || message.attachments.every(takes)) return message
    const { attachments, ...rest } = message
    const left = attachments.filter(takes)
    const lines = attachments
      .filter((one) => !takes(one))
      .map(({ type, name }) => `[${type}: ${name} is not shown: this model cannot read such files.]`)
    const content = [rest.content, lines.join('\n')].filter((part) => part !== '').join('\n\n')
    return { ...rest, content, ...(left.length === 0 ? {} : { attachments: left }) }
  }

  return {
    ...model,
    stream: (request, signal, take) =>
      model.stream({ ...request, messages: request.messages.map(accepted) }, signal, take),
  }
}

async function createProvider(settings: ModelSettings, deps: ModelDeps): Promise<Model> {
  const provider = providerOf(settings)
  checkKey(settings, keyVariables[provider], 'model')
  const { clock, directory } = deps
  const now = () => clock.now()
  const newId = () => `call_${deps.ids.uuid().replaceAll('-', '')}`
  const wired = async () => ({ http: await httpFor(settings, deps.http, 'model'), now, newId })
  switch (provider) {
    case 'openai':
    case 'azure':
    case 'ollama': {
      if (provider === 'azure' && settings.baseUrl === undefined) {
        throw invalid(
          'provider: azure needs the address of your resource. Set AZURE_OPENAI_ENDPOINT, or write base_url: https://<resource>.openai.azure.com',
        )
      }
      if (settings.reasoning?.budgetTokens !== undefined) {
        throw invalid(
          `provider: ${provider} has no reasoning.budget_tokens. Write reasoning: { effort: low }, medium or high.`,
        )
      }
      const { createOpenAiModel } = await import('./openai/openai.ts')
      return createOpenAiModel(settings, await wired())
    }
    case 'anthropic': {
      const { createAnthropicModel } = await import('./anthropic/anthropic.ts')
      return createAnthropicModel(settings, await wired())
    }
    case 'google':
    case 'gemini': {
      const { createGoogleModel } = await import('./google/google.ts')
      return createGoogleModel({ ...settings, provider: 'google' }, await wired())
    }
    case 'ai-sdk': {
      const { createAiSdkModel } = await import('./ai-sdk/ai-sdk.ts')
      const http = await httpFor(settings, deps.http, 'model')
      return createAiSdkModel(settings, { directory, now, log: deps.log, fetch: http.fetch })
    }
    case 'demo': {
      const { createDemoModel } = await import('./demo/demo.ts')
      return createDemoModel({ name: settings.name, clock, newId })
    }
    case 'scripted': {
      if (settings.script === undefined)
        throw invalid('provider: scripted needs a file. Write script: ./answers.yaml under model.')
      const { loadScript } = await import('./scripted/script.ts')
      const { createScriptedModel } = await import('./scripted/scripted.ts')
      const script = await loadScript(settings.script, directory)
      return createScriptedModel({ ...script, clock, name: settings.name, newId })
    }
  }
}

function providerOf({ provider }: ModelSettings): ProviderName {
  if (isProviderName(provider)) return provider
  const names = Object.keys(keyVariables).join(', ')
  throw invalid(
    `model.provider: ${JSON.stringify(provider)} is unknown. Write one of ${names}. For a server that speaks OpenAI's protocol, write provider: openai and its base_url.`,
  )
}

const isProviderName = (name: string): name is ProviderName => Object.hasOwn(keyVariables, name)
