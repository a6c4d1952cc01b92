// The kinds of input that a model accepts directly, if the agent file does not say.

import type { ModelInput } from '../../domain/agent.ts'
import type { ModelYaml } from './model-yaml.ts'
import { canonicalProvider, type ProviderName } from './providers.ts'

interface Native {
  /** The provider's own hosts. Other servers only speak its protocol. */
  hosts: readonly string[]
  input: readonly ModelInput[]
}

const all = ['text', 'image', 'pdf'] as const

const native: Partial<Record<ProviderName, Native>> = {
  openai: { hosts: ['api.openai.com'], input: all },
  // Azure's chat completions refuse PDF files: "This model does not support file content types."
  azure: {
    hosts: ['openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'],
    input: ['text', 'image'],
  },
  anthropic: { hosts: ['api.anthropic.com'], input: all },
  google: { hosts: ['generativelanguage.googleapis.com'], input: all },
}

/** Empty: only text. Always in the same order and without duplicates. */
export function modelInput(model: Pick<ModelYaml, 'provider' | 'input'>, baseUrl: string | undefined): ModelInput[] {
  const taken = model.input ?? standardInput(model.provider, baseUrl)
  return taken.some((one) => one !== 'text') ? all.filter((one) => one === 'text' || taken.includes(one)) : []
}

function standardInput(provider: ProviderName, baseUrl: string | undefined): readonly ModelInput[] {
  const known = native[canonicalProvider(provider)]
  if (known === undefined) return []
  if (baseUrl === undefined) return known.input
  const host = URL.parse(baseUrl)?.hostname ?? ''
  return known.hosts.some((own) => host === own || host.endsWith(`.${own}`)) ? known.input : []
}
