// The agent of a server that was started without a file: made of the environment, or the demonstration.

import type { AgentDefinition } from '../../domain/agent.ts'
import { ConfigError, type ConfigIssue } from '../config-error.ts'
import { diskFiles } from '../source/config-files.ts'
import { didYouMean } from '../source/did-you-mean.ts'
import { type Environment, variable } from '../source/env-file.ts'
import { type AgentDefaults, agentDefaults } from '../source/load-context.ts'
import { agentYaml } from './agent-yaml.ts'
import { defineAgent } from './define-agent.ts'
import { canonicalProvider, firstOf, isProviderName, type ProviderName, providers } from './providers.ts'

/** In this order: the first provider whose key is set is the one that is meant. */
const guessed = ['openai', 'anthropic', 'google', 'azure'] as const

/**
 * LLM_PROVIDER and LLM_MODEL say what is meant; without them the key that is set does. With nothing set it is the demo
 * agent. A provider that is named but has no key stays named: it is the model's part to refuse, never ours to replace.
 */
export function agentFromEnvironment(
  env: Environment,
  options: { directory: string; defaults?: AgentDefaults },
): AgentDefinition {
  const issues: ConfigIssue[] = []
  const report = (path: string, message: string) =>
    void issues.push({ file: null, line: null, column: null, path, message })
  const provider = providerFrom(env, report)
  const model = modelFrom(env, provider, report)
  if (issues.length > 0) throw new ConfigError(issues)

  const yaml = agentYaml.parse({
    name: 'assistant',
    description: provider === 'demo' ? 'The built-in demonstration agent.' : 'A general assistant.',
    default: true,
    model: { provider, name: model },
    instructions: 'You are a helpful assistant. Answer clearly and briefly.',
  })
  const agent = defineAgent(yaml, {
    directory: options.directory,
    env,
    files: diskFiles,
    defaults: options.defaults ?? agentDefaults,
    // Of all that a definition can miss, only azure's address is left to the environment.
    written: () => undefined,
    report: (_path, message) => report('AZURE_OPENAI_ENDPOINT', message),
  })
  if (issues.length > 0) throw new ConfigError(issues)
  return agent
}

type Report = (path: string, message: string) => void

/** Providers that a few variables can describe. */
const nameable = ['demo', ...guessed, 'gemini', 'azure_openai', 'ollama']

function providerFrom(env: Environment, report: Report): ProviderName {
  const named = variable(env, 'LLM_PROVIDER')?.trim().toLowerCase()
  if (named !== undefined) {
    if (isProviderName(named) && nameable.includes(named)) return named
    const near = didYouMean(named, nameable)
    const advice = near === null ? 'Other providers need an agent file.' : `Did you mean ${near}?`
    report('LLM_PROVIDER', `expected one of ${nameable.join(', ')}, found ${JSON.stringify(named)}. ${advice}`)
    return 'demo'
  }
  const keyed = guessed.find((name) => firstOf(env, providers[name].keys) !== undefined)
  if (keyed === undefined && variable(env, 'LLM_MODEL') !== undefined) {
    report('LLM_MODEL', 'this names a model, but no provider is set. Set LLM_PROVIDER (e.g. openai) and its key.')
  }
  return keyed ?? 'demo'
}

function modelFrom(env: Environment, provider: ProviderName, report: Report): string {
  const { models, defaultModel } = providers[provider]
  // The demo has one model, whatever LLM_MODEL still says from another day.
  const named = provider === 'demo' ? undefined : firstOf(env, ['LLM_MODEL', ...models])?.trim()
  if (named === undefined && defaultModel === null) {
    report(
      ['LLM_MODEL', ...models].join(' or '),
      `provider ${provider} needs the name of a model. Set e.g. LLM_MODEL=${example[canonicalProvider(provider)] ?? 'name'}`,
    )
  }
  return named ?? defaultModel ?? ''
}

const example: Partial<Record<ProviderName, string>> = { ollama: 'llama3.2', azure: 'my-deployment' }
