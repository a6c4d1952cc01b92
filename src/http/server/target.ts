import { ServerError } from '../../domain/errors.ts'

/** What the request line asks for. */
export interface Target {
  /** As sent: not decoded, dots and empty segments not resolved. */
  path: string
  /** Without its `?`. */
  query: string
  /** Of an absolute target (`GET http://host/path`); it then counts as a Host, too. */
  authority: string | null
}

const ABSOLUTE = /^https?:\/\/([^/?#]+)(.*)$/i

export function parseTarget(url: string): Target {
  if (url.startsWith('/')) return split(url, null)
  // `OPTIONS *` asks about the server as a whole.
  if (url === '*') return { path: '*', query: '', authority: null }
  const absolute = ABSOLUTE.exec(url)
  if (absolute === null) throw new ServerError('invalid_request', 'The request target must begin with "/".')
  const [, authority = '', rest = ''] = absolute
  return split(rest.startsWith('/') ? rest : `/${rest}`, authority)
}

function split(text: string, authority: string | null): Target {
  const mark = text.indexOf('?')
  return mark < 0
    ? { path: text, query: '', authority }
    : { path: text.slice(0, mark), query: text.slice(mark + 1), authority }
}
