import type { ModelInput, ModelSettings } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import { ServerError } from '../domain/errors.ts'
import type { Ids } from '../domain/ids.ts'
import type { Logger } from '../domain/logger.ts'
import type { ConnectionOptions } from '../outgoing/connections.ts'
import type { Model, ModelAttachment, ModelMessage } from './model.ts'
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

/** The environment variable that holds the key; null when the provider needs no key or finds it itself. */
const KEY_VARIABLES = {
  openai: 'OPENAI_API_KEY',
  azure: 'AZURE_OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_API_KEY or GEMINI_API_KEY',
  gemini: 'GOOGLE_API_KEY or GEMINI_API_KEY',
  ollama: null,
  'ai-sdk': null,
  demo: null,
  scripted: null,
} as const

export type ProviderName = keyof typeof KEY_VARIABLES

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
  checkKey(settings, KEY_VARIABLES[provider])
  const { clock, directory } = deps
  const now = () => clock.now()
  const newId = () => `call_${deps.ids.uuid().replaceAll('-', '')}`
  const wired = async () => ({ http: await httpFor(settings, deps.http), now, newId })
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
      const http = await httpFor(settings, deps.http)
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

const connectionOptions = ({ proxy, proxyVariables, connectTimeoutMs }: ModelSettings): ConnectionOptions => ({
  proxy,
  proxyVariables: proxyVariables ?? null,
  connectTimeoutMs,
})

async function httpFor(settings: ModelSettings, http: ModelHttp): Promise<ModelHttp> {
  const { tls } = settings
  if (tls === undefined) return http.withConnections(connectionOptions(settings))
  const { readFile } = await import('node:fs/promises')
  const texts: { cert?: string; key?: string; ca?: string } = {}
  for (const one of ['cert', 'key', 'ca'] as const) {
    const file = tls[one]
    if (file === undefined) continue
    texts[one] = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw invalid(`model.tls.${one}: ${file} cannot be read (${error.code ?? 'unknown'}). Check the path.`)
    })
  }
  try {
    process.getBuiltinModule('node:tls').createSecureContext(texts)
  } catch {
    // The error of OpenSSL would not help.
    throw invalid(
      'model.tls: the files do not hold a certificate and its key in PEM, without a password. Check cert, key and ca.',
    )
  }
  return http.withConnections({ ...connectionOptions(settings), tls: texts })
}

function providerOf({ provider }: ModelSettings): ProviderName {
  if (isProviderName(provider)) return provider
  const names = Object.keys(KEY_VARIABLES).join(', ')
  throw invalid(
    `model.provider: ${JSON.stringify(provider)} is unknown. Write one of ${names}. For a server that speaks OpenAI's protocol, write provider: openai and its base_url.`,
  )
}

const isProviderName = (name: string): name is ProviderName => Object.hasOwn(KEY_VARIABLES, name)

function checkKey({ provider, apiKey }: ModelSettings, variable: string | null): void {
  if (apiKey === undefined || apiKey === '') {
    if (variable === null) return
    throw invalid(
      `provider: ${provider} needs a key. Set ${variable}, or write api_key under model. For a server without keys write api_key: none`,
    )
  }
  // The key becomes a header, which cannot hold a line end, e.g. from a file.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const source = variable === null ? 'model.api_key' : `${variable} or model.api_key`
    throw invalid(
      `The key in ${source} contains a space, a line end or another character that keys never contain. Copy it again.`,
    )
  }
}

const invalid = (message: string): ServerError => new ServerError('config_invalid', message)
