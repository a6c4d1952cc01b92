// How a provider is reached: its key, its address, its proxy. What models and embeddings have in common.

import type { ModelSettings } from '../../domain/agent/agent.ts'
import { proxyVariables } from '../source/env-file.ts'
import type { Path } from '../source/json-schema-node.ts'
import { existingFile, type LoadContext } from '../source/load-context.ts'
import type { ModelYaml } from './model-yaml.ts'
import { canonicalProvider, firstOf, providers } from './providers.ts'

export type AccessYaml = Pick<
  ModelYaml,
  'provider' | 'base_url' | 'endpoint' | 'api_key' | 'package' | 'retries' | 'connect_timeout' | 'proxy' | 'tls'
>

export function defineAccess(yaml: AccessYaml, path: Path, context: LoadContext) {
  const provider = canonicalProvider(yaml.provider)
  const variables = proxyVariables(context.env)
  return {
    provider,
    baseUrl: provider === 'azure' ? azureAddress(yaml, path, context) : (yaml.base_url ?? yaml.endpoint),
    apiKey: yaml.api_key ?? firstOf(context.env, providers[yaml.provider].keys),
    package: yaml.package,
    retries: yaml.retries,
    connectTimeoutMs: yaml.connect_timeout * 1000,
    proxy: yaml.proxy === 'none' ? (false as const) : yaml.proxy,
    proxyVariables: Object.keys(variables).length === 0 ? undefined : variables,
    tls: tlsFiles(yaml.tls, [...path, 'tls'], context),
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
function azureAddress(yaml: AccessYaml, path: Path, { env, report }: LoadContext): string | undefined {
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
