// The agent of a server that starts without an agent file: built from environment variables, or the demo agent.

import type { AgentDefinition } from '../../domain/agent/agent.ts'
import { didYouMean } from '../../domain/text/did-you-mean.ts'
import { ConfigError, type ConfigIssue, issueWithoutLine } from '../config-error.ts'
import { diskFiles } from '../source/config-files.ts'
import { type Environment, variable } from '../source/env-file.ts'
import { type AgentDefaults, agentDefaults } from '../source/load-context.ts'
import { agentYaml } from './agent-yaml.ts'
import { defineAgent } from './define-agent.ts'
import { firstOf, isProviderName, type ProviderName, providers } from './providers.ts'

/** In this order: the first provider whose key is set is used. */
const guessed = ['openai', 'anthropic', 'google', 'azure'] as const

/**
 * LLM_PROVIDER and LLM_MODEL choose the model; without them, the API key that is set chooses the provider. If nothing is set, the
 * demo agent answers. A provider without a key is never replaced by the demo: creating the model then fails with a clear error.
 */
export function agentFromEnvironment(
  env: Environment,
  options: { directory: string; defaults?: AgentDefaults },
): AgentDefinition {
  const issues: ConfigIssue[] = []
  const report = (path: string, message: string) => void issues.push(issueWithoutLine(message, { path }))
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
    // The only value that can be missing here is the address of azure.
    written: () => undefined,
    warn: () => {},
    report: (_path, message) => report('AZURE_OPENAI_ENDPOINT', [message, ...unreadVariables(env)].join(' ')),
  })
  if (issues.length > 0) throw new ConfigError(issues)
  return agent
}

/** Variables that programs like this one read and we do not: what to do instead, in a sentence for each that is set. */
export function unreadVariables(env: Environment): string[] {
  const isMissing = firstOf(env, providers.azure.addresses) === undefined
  return [
    ...(isMissing && variable(env, 'AZURE_AI_PROJECT_ENDPOINT') !== undefined ? [NO_PROJECT] : []),
    ...(variable(env, 'PDF_PATH') !== undefined ? [NO_PDF_PATH] : []),
  ]
}

const NO_PROJECT =
  'AZURE_AI_PROJECT_ENDPOINT is not read: set AZURE_OPENAI_ENDPOINT (the address of the resource, without /api/projects/…), AZURE_OPENAI_API_KEY and AZURE_OPENAI_DEPLOYMENT instead.'
const NO_PDF_PATH =
  'PDF_PATH is not read: attach the PDF to a message instead, in the console or as one of its `files`.'

type Report = (path: string, message: string) => void

/** Providers that environment variables can describe. */
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
  const { models, model, isDefault } = providers[provider]
  // The demo has one model, even if LLM_MODEL is still set for another provider.
  const named = provider === 'demo' ? undefined : firstOf(env, ['LLM_MODEL', ...models])?.trim()
  if (named === undefined && !isDefault) {
    const message = `provider ${provider} needs the name of a model. Set e.g. LLM_MODEL=${model}`
    report(['LLM_MODEL', ...models].join(' or '), message)
  }
  return named ?? (isDefault ? model : '')
}
