// What the configuration knows about each provider: its name, where its key is looked for, what it cannot do without.

import { type Environment, variable } from '../source/env-file.ts'

export const providerNames = [
  'demo',
  'openai',
  'anthropic',
  'google',
  'gemini',
  'azure',
  'azure_openai',
  'ollama',
  'ai-sdk',
  'scripted',
] as const

export type ProviderName = (typeof providerNames)[number]

interface Provider {
  /** Variables that may hold the key, the first that is set counts. */
  keys: readonly string[]
  /** Variables that may hold the address. */
  addresses: readonly string[]
  /** Variables that may name the model when a server starts without an agent file, after LLM_MODEL. */
  models: readonly string[]
  /** The model of a start without an agent file when nothing names one; null where there is no sensible one. */
  defaultModel: string | null
}

const azure: Provider = {
  keys: ['AZURE_OPENAI_API_KEY'],
  addresses: ['AZURE_OPENAI_ENDPOINT'],
  models: ['AZURE_OPENAI_DEPLOYMENT', 'AZURE_OPENAI_DEPLOYMENT_NAME'],
  defaultModel: null,
}

export const providers: Record<ProviderName, Provider> = {
  demo: { keys: [], addresses: [], models: [], defaultModel: 'demo' },
  openai: { keys: ['OPENAI_API_KEY'], addresses: [], models: [], defaultModel: 'gpt-5-mini' },
  anthropic: { keys: ['ANTHROPIC_API_KEY'], addresses: [], models: [], defaultModel: 'claude-sonnet-4-5' },
  google: {
    keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    addresses: [],
    models: ['GEMINI_MODEL'],
    defaultModel: 'gemini-2.5-flash',
  },
  gemini: {
    keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    addresses: [],
    models: ['GEMINI_MODEL'],
    defaultModel: 'gemini-2.5-flash',
  },
  azure,
  azure_openai: azure,
  ollama: { keys: [], addresses: [], models: [], defaultModel: null },
  'ai-sdk': { keys: [], addresses: [], models: [], defaultModel: null },
  scripted: { keys: [], addresses: [], models: [], defaultModel: 'scripted' },
}

export const isProviderName = (name: string): name is ProviderName => Object.hasOwn(providers, name)

/** `gemini` is another name of `google`, `azure_openai` of `azure`; everything behind the configuration sees one of them. */
export function canonicalProvider(name: ProviderName): ProviderName {
  if (name === 'gemini') return 'google'
  return name === 'azure_openai' ? 'azure' : name
}

/** The value of the first variable that is set. */
export function firstOf(env: Environment, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = variable(env, name)
    if (value !== undefined) return value
  }
  return undefined
}
