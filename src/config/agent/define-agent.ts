// What agent.yaml says -> what the engine needs: files read, keys and addresses found, times in milliseconds.

import type { AgentDefinition, ModelSettings } from '../../domain/agent.ts'
import { proxyVariables } from '../source/env-file.ts'
import type { Path } from '../source/json-schema-node.ts'
import { existingFile, type LoadContext } from '../source/load-context.ts'
import { readTextOrFile } from '../source/text-or-file.ts'
import { defineTools } from '../tools/define-tools.ts'
import type { AgentFile } from './agent-yaml.ts'
import { defineTestCases } from './define-test-cases.ts'
import { modelInput } from './model-input.ts'
import type { ModelFile } from './model-yaml.ts'
import { canonicalProvider, firstOf, providers } from './providers.ts'

/** Reports what is wrong beyond the file itself; the result counts only when nothing was reported. */
export function defineAgent(file: AgentFile, context: LoadContext): AgentDefinition {
  const { directory, defaults } = context
  return {
    name: file.name,
    description: file.description,
    directory,
    default: file.default,
    internal: false,
    instructions: readTextOrFile(file.instructions, ['instructions'], context),
    model: defineModel(file.model, ['model'], context),
    tools: defineTools(file.tools, context),
    responseFormat: file.response_format ?? null,
    limits: {
      steps: file.limits.steps,
      tokens: file.limits.tokens ?? null,
      durationMs: file.limits.duration * 1000,
      cost: file.limits.cost ?? null,
      toolCalls: file.limits.tool_calls,
      identicalCalls: file.limits.identical_calls,
      parallelCalls: file.limits.parallel_calls,
      toolResultChars: file.limits.tool_result_chars,
      answerChars: file.limits.answer_chars,
      storedMessageChars: file.limits.stored_message_chars,
    },
    context: { maxMessages: file.context.max_messages ?? defaults.maxMessages },
    sessions: {
      ttlSeconds: file.sessions.ttl ?? defaults.ttlSeconds,
      onExpiry: file.sessions.on_expiry,
      retentionDays: file.sessions.retention_days ?? defaults.retentionDays,
      onBusy: file.sessions.on_busy,
    },
    approval: {
      default: file.approval.default,
      policy: file.approval.policy.map((rule) => ({ ...rule, where: rule.where ?? null })),
      by: file.approval.by,
      expiresSeconds: file.approval.expires,
    },
    testCases: defineTestCases(file, context),
    judge: file.judge === undefined ? null : defineModel(file.judge, ['judge'], context),
  }
}

function defineModel(file: ModelFile, path: Path, context: LoadContext): ModelSettings {
  const { env } = context
  const known = providers[file.provider]
  const provider = canonicalProvider(file.provider)
  const apiKey = file.api_key ?? firstOf(env, known.keys)
  const baseUrl = provider === 'azure' ? azureAddress(file, path, context) : (file.base_url ?? file.endpoint)
  const script = file.script === undefined ? undefined : existingFile(file.script, [...path, 'script'], context)
  const { reasoning, prices } = file
  const variables = proxyVariables(context.env)
  const tls = tlsFiles(file.tls, [...path, 'tls'], context)
  const input = modelInput(file, baseUrl)
  return {
    provider,
    name: file.name ?? file.provider,
    ...(file.temperature === undefined ? {} : { temperature: file.temperature }),
    ...(file.max_tokens === undefined ? {} : { maxTokens: file.max_tokens }),
    ...(file.top_p === undefined ? {} : { topP: file.top_p }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(file.package === undefined ? {} : { package: file.package }),
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
    contextWindow: file.context_window,
    retries: file.retries,
    connectTimeoutMs: file.connect_timeout * 1000,
    ...(file.proxy === undefined ? {} : { proxy: file.proxy === 'none' ? false : file.proxy }),
    ...(Object.keys(variables).length === 0 ? {} : { proxyVariables: variables }),
    ...(tls === undefined ? {} : { tls }),
    firstTokenTimeoutMs: file.first_token_timeout * 1000,
    tokenTimeoutMs: file.token_timeout * 1000,
    ...(prices === undefined ? {} : { prices }),
    ...(file.fallback === undefined ? {} : { fallback: defineModel(file.fallback, [...path, 'fallback'], context) }),
  }
}

function tlsFiles(tls: ModelFile['tls'], path: Path, context: LoadContext): ModelSettings['tls'] {
  if (tls === undefined) return undefined
  const files = (['cert', 'key', 'ca'] as const).flatMap((one) => {
    const file = tls[one]
    return file === undefined ? [] : [[one, existingFile(file, [...path, one], context)]]
  })
  return Object.fromEntries(files)
}

/** Every Azure resource has an address of its own. The API version travels in its query. */
function azureAddress(file: ModelFile, path: Path, { env, report }: LoadContext): string | undefined {
  const text = file.base_url ?? file.endpoint ?? firstOf(env, providers.azure.addresses)
  const url = text === undefined ? null : URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const problem =
      text === undefined ? 'provider azure needs its endpoint' : 'AZURE_OPENAI_ENDPOINT is no http address'
    const example = 'https://my-resource.openai.azure.com'
    report([...path, 'base_url'], `${problem}. Set AZURE_OPENAI_ENDPOINT=${example} or write base_url: ${example}`)
    return undefined
  }
  const version = firstOf(env, ['AZURE_OPENAI_API_VERSION', 'OPENAI_API_VERSION'])
  if (version === undefined || url.searchParams.has('api-version')) return text
  url.searchParams.set('api-version', version)
  return url.href
}
