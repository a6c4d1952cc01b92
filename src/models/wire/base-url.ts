import type { ModelSettings } from '../../domain/agent.ts'
import { ServerError } from '../../domain/errors.ts'

/** The server's address as configured, checked. Its query is kept: Azure puts `api-version` there. */
export function baseUrl(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>, standard: string): URL {
  const text = settings.baseUrl ?? standard
  const url = URL.parse(text)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // The text is not repeated: an address may hold a password.
  throw new ServerError(
    'config_invalid',
    `model.base_url is no http address. Write e.g. base_url: ${standard === '' ? 'https://example.com/v1' : standard}`,
    { details: { provider: settings.provider } },
  )
}

/** `url` with a longer path. A trailing slash makes no difference; the query stays, `query` is added. */
export function withPath(url: URL, path: string, query: Record<string, string> = {}): URL {
  const longer = new URL(url)
  longer.pathname = `${longer.pathname.replace(/\/+$/, '')}${path}`
  longer.hash = ''
  for (const [key, value] of Object.entries(query)) longer.searchParams.set(key, value)
  return longer
}
