import type { ModelSettings } from '../../domain/agent/agent.ts'
import { ServerError } from '../../domain/errors.ts'

/** The server's address from the settings, checked. The query is kept, because Azure puts `api-version` there. */
export function baseUrl(settings: Pick<ModelSettings, 'provider' | 'baseUrl'>, standard: string): URL {
  const text = settings.baseUrl ?? standard
  const url = URL.parse(text)
  if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url
  // The error does not repeat the address, which may hold a password.
  throw new ServerError(
    'config_invalid',
    `model.base_url is not an http or https address. Write e.g. base_url: ${standard === '' ? 'https://example.com/v1' : standard}`,
    { details: { provider: settings.provider } },
  )
}

/** A copy of `url` with `path` appended and `query` added. A trailing slash of `url` makes no difference; its query is kept. */
export function withPath(url: URL, path: string, query: Record<string, string> = {}): URL {
  const longer = new URL(url)
  longer.pathname = `${longer.pathname.replace(/\/+$/, '')}${path}`
  longer.hash = ''
  for (const [key, value] of Object.entries(query)) longer.searchParams.set(key, value)
  return longer
}
