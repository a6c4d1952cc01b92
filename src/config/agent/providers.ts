// What the configuration knows about each provider: its name, the variables for its key and address, its default model.

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
  /** Variables for the key; the first one that is set counts. */
  keys: readonly string[]
  /** Variables for the address. */
  addresses: readonly string[]
  /** Variables for the model of a server without an agent file, after LLM_MODEL. */
  models: readonly string[]
  /** Named in examples. `isDefault`: also the model of a server without an agent file if no variable names one. */
  model: string
  isDefault: boolean
  /** Its usual model for embeddings. Null: the file names one. */
  embedding: string | null
}

const google: Provider = {
  keys: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
  addresses: [],
  models: ['GEMINI_MODEL'],
  model: 'gemini-2.5-flash',
  isDefault: true,
  embedding: 'gemini-embedding-001',
}

const azure: Provider = {
  keys: ['AZURE_OPENAI_API_KEY'],
  addresses: ['AZURE_OPENAI_ENDPOINT'],
  models: ['AZURE_OPENAI_DEPLOYMENT', 'AZURE_OPENAI_DEPLOYMENT_NAME'],
  model: 'my-deployment',
  isDefault: false,
  embedding: null,
}

export const providers: Record<ProviderName, Provider> = {
  demo: { keys: [], addresses: [], models: [], model: 'demo', isDefault: true, embedding: 'demo' },
  openai: {
    keys: ['OPENAI_API_KEY'],
    addresses: [],
    models: [],
    model: 'gpt-5-mini',
    isDefault: true,
    embedding: 'text-embedding-3-small',
  },
  anthropic: {
    keys: ['ANTHROPIC_API_KEY'],
    addresses: [],
    models: [],
    model: 'claude-sonnet-4-5',
    isDefault: true,
    embedding: null,
  },
  google,
  gemini: google,
  azure,
  azure_openai: azure,
  ollama: { keys: [], addresses: [], models: [], model: 'llama3.2', isDefault: false, embedding: 'nomic-embed-text' },
  'ai-sdk': { keys: [], addresses: [], models: [], model: 'mistral-large-latest', isDefault: false, embedding: null },
  scripted: { keys: [], addresses: [], models: [], model: 'scripted', isDefault: true, embedding: null },
}

export const isProviderName = (name: string): name is ProviderName => Object.hasOwn(providers, name)

/** `gemini` is another name for `google`, and `azure_openai` for `azure`. Only the configuration knows both names. */
export function canonicalProvider(name: ProviderName): ProviderName {
  if (name === 'gemini') return 'google'
  return name === 'azure_openai' ? 'azure' : name
}

/** The value of the first of these variables that is set. */
export function firstOf(env: Environment, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = variable(env, name)
    if (value !== undefined) return value
  }
  return undefined
}
