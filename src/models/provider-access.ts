// What models and embeddings need to reach their provider: its key, and connections as the settings want them.

import type { ModelSettings } from '../domain/agent/agent.ts'
import { ServerError } from '../domain/errors.ts'
import type { ConnectionOptions } from '../outgoing/connections.ts'
import type { ModelHttp } from './wire/model-http.ts'

type Access = Pick<ModelSettings, 'provider' | 'apiKey' | 'proxy' | 'proxyVariables' | 'connectTimeoutMs' | 'tls'>

/** The key of the agent's file that the settings stand under, as errors name it. */
export type Under = 'model' | 'embedding'

/** The environment variable that holds the key; null when the provider needs no key or finds it itself. */
export const keyVariables = {
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

export type ProviderName = keyof typeof keyVariables

const connectionOptions = ({ proxy, proxyVariables, connectTimeoutMs }: Access): ConnectionOptions => ({
  proxy,
  proxyVariables: proxyVariables ?? null,
  connectTimeoutMs,
})

/** Connections with the proxy, the certificates and the timeout of the settings. */
export async function httpFor(settings: Access, http: ModelHttp, under: Under): Promise<ModelHttp> {
  const { tls } = settings
  if (tls === undefined) return http.withConnections(connectionOptions(settings))
  const { readFile } = await import('node:fs/promises')
  const texts: { cert?: string; key?: string; ca?: string } = {}
  for (const one of ['cert', 'key', 'ca'] as const) {
    const file = tls[one]
    if (file === undefined) continue
    texts[one] = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw invalid(`${under}.tls.${one}: ${file} cannot be read (${error.code ?? 'unknown'}). Check the path.`)
    })
  }
  try {
    process.getBuiltinModule('node:tls').createSecureContext(texts)
  } catch {
    // The error of OpenSSL would not help.
    throw invalid(
      `${under}.tls: the files do not hold a certificate and its key in PEM, without a password. Check cert, key and ca.`,
    )
  }
  return http.withConnections({ ...connectionOptions(settings), tls: texts })
}

/** Throws for a key that is missing, or that no header can hold. */
export function checkKey({ provider, apiKey }: Access, variable: string | null, under: Under): void {
  if (apiKey === undefined || apiKey === '') {
    if (variable === null) return
    throw invalid(
      `provider: ${provider} needs a key. Set ${variable}, or write api_key under ${under}. For a server without keys write api_key: none`,
    )
  }
  // The key becomes a header, which cannot hold a line end, e.g. from a file.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    const source = variable === null ? `${under}.api_key` : `${variable} or ${under}.api_key`
    throw invalid(
      `The key in ${source} contains a space, a line end or another character that keys never contain. Copy it again.`,
    )
  }
}

export const invalid = (message: string): ServerError => new ServerError('config_invalid', message)
