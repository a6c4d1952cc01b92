// Turns a checked agent.yaml into an AgentDefinition: reads files, finds keys and addresses, converts times to milliseconds.

import type { AgentDefinition, ModelSettings } from '../../domain/agent.ts'
import { proxyVariables } from '../source/env-file.ts'
import type { Path } from '../source/json-schema-node.ts'
import { existingFile, type LoadContext } from '../source/load-context.ts'
import { readTextOrFile } from '../source/text-or-file.ts'
import { defineTools } from '../tools/define-tools.ts'
import type { AgentYaml } from './agent-yaml.ts'
import { defineTestCases } from './define-test-cases.ts'
import { modelInput } from './model-input.ts'
import type { ModelYaml } from './model-yaml.ts'
import { canonicalProvider, firstOf, providers } from './providers.ts'

/** Reports mistakes that the schema cannot find, such as missing files. The result is only valid if nothing was reported. */
export function defineAgent(yaml: AgentYaml, context: LoadContext): AgentDefinition {
  const { directory, defaults } = context
  return {
    name: yaml.name,
    description: yaml.description,
    directory,
    default: yaml.default,
    internal: false,
    instructions: readTextOrFile(yaml.instructions, ['instructions'], context),
    model: defineModel(yaml.model, ['model'], context),
    tools: defineTools(yaml.tools, context),
    responseFormat: yaml.response_format ?? null,
    limits: {
      steps: yaml.limits.steps,
      tokens: yaml.limits.tokens ?? null,
      durationMs: yaml.limits.duration * 1000,
      cost: yaml.limits.cost ?? null,
      toolCalls: yaml.limits.tool_calls,
      identicalCalls: yaml.limits.identical_calls,
      parallelCalls: yaml.limits.parallel_calls,
      toolResultChars: yaml.limits.tool_result_chars,
      answerChars: yaml.limits.answer_chars,
      storedMessageChars: yaml.limits.stored_message_chars,
    },
    context: { maxMessages: yaml.context.max_messages ?? defaults.maxMessages },
    sessions: {
      ttlSeconds: yaml.sessions.ttl ?? defaults.ttlSeconds,
      onExpiry: yaml.sessions.on_expiry,
      retentionDays: yaml.sessions.retention_days ?? defaults.retentionDays,
      onBusy: yaml.sessions.on_busy,
    },
    approval: {
      default: yaml.approval.default,
      policy: yaml.approval.policy.map((rule) => ({ ...rule, where: rule.where ?? null })),
      by: yaml.approval.by,
      expiresSeconds: yaml.approval.expires,
    },
    testCases: defineTestCases(yaml, context),
    judge: yaml.judge === undefined ? null : defineModel(yaml.judge, ['judge'], context),
  }
}

function defineModel(yaml: ModelYaml, path: Path, context: LoadContext): ModelSettings {
  const { env } = context
  const known = providers[yaml.provider]
  const provider = canonicalProvider(yaml.provider)
  const apiKey = yaml.api_key ?? firstOf(env, known.keys)
  const baseUrl = provider === 'azure' ? azureAddress(yaml, path, context) : (yaml.base_url ?? yaml.endpoint)
  const script = yaml.script === undefined ? undefined : existingFile(yaml.script, [...path, 'script'], context)
  const { reasoning, prices } = yaml
  const variables = proxyVariables(context.env)
  const tls = tlsFiles(yaml.tls, [...path, 'tls'], context)
  const input = modelInput(yaml, baseUrl)
  return {
    provider,
    name: yaml.name ?? yaml.provider,
    ...(yaml.temperature === undefined ? {} : { temperature: yaml.temperature }),
    ...(yaml.max_tokens === undefined ? {} : { maxTokens: yaml.max_tokens }),
    ...(yaml.top_p === undefined ? {} : { topP: yaml.top_p }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(yaml.package === undefined ? {} : { package: yaml.package }),
    ...(script === undefined ? {} : { script }),
    ...(reasoning === undefined
      ? {}
      : {
          reasoning: {
            ...(reasoning.effort === undefined ? {} : { effort: reasoning.effort }),
            ...(reasoning.budget_tokens === undefined ? {} : { budgetTokens: reasoning.budget_tokens }),
          },
        }),
    ...(input.length === 0 ? {} : { input }),
    contextWindow: yaml.context_window,
    retries: yaml.retries,
    connectTimeoutMs: yaml.connect_timeout * 1000,
    ...(yaml.proxy === undefined ? {} : { proxy: yaml.proxy === 'none' ? false : yaml.proxy }),
    ...(Object.keys(variables).length === 0 ? {} : { proxyVariables: variables }),
    ...(tls === undefined ? {} : { tls }),
    firstTokenTimeoutMs: yaml.first_token_timeout * 1000,
    tokenTimeoutMs: yaml.token_timeout * 1000,
    ...(prices === undefined ? {} : { prices }),
    ...(yaml.fallback === undefined ? {} : { fallback: defineModel(yaml.fallback, [...path, 'fallback'], context) }),
  }
}

function tlsFiles(tls: ModelYaml['tls'], path: Path, context: LoadContext): ModelSettings['tls'] {
  if (tls === undefined) return undefined
  const files = (['cert', 'key', 'ca'] as const).flatMap((one) => {
    const file = tls[one]
    return file === undefined ? [] : [[one, existingFile(file, [...path, one], context)]]
  })
  return Object.fromEntries(files)
}

/** Every Azure resource has its own address. The API version goes into its query. */
function azureAddress(yaml: ModelYaml, path: Path, { env, report }: LoadContext): string | undefined {
  const text = yaml.base_url ?? yaml.endpoint ?? firstOf(env, providers.azure.addresses)
  const url = text === undefined ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const problem =
      text === undefined ? 'provider azure needs its endpoint' : 'AZURE_OPENAI_ENDPOINT is not an http or https address'
    const example = 'https://my-resource.openai.azure.com'
    report([...path, 'base_url'], `${problem}. Set AZURE_OPENAI_ENDPOINT=${example} or write base_url: ${example}`)
    return undefined
  }
  const version = firstOf(env, ['AZURE_OPENAI_API_VERSION', 'OPENAI_API_VERSION'])
  if (version === undefined || url.searchParams.has('api-version')) return text
  url.searchParams.set('api-version', version)
  return url.href
}
