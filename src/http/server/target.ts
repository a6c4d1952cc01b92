// What a request asks for: the path and query of its request line.

import type { IncomingMessage } from 'node:http'
import { ServerError } from '../../domain/errors.ts'
import { pathUnder } from './base-path.ts'

export interface Target {
  /** As the client sent it: not decoded, with its dots and empty segments. */
  path: string
  /** Without the `?`. */
  query: string
  /** The host of an absolute target (`GET http://host/path`). It is checked like a Host header. */
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

export function pathOf(url: string): string {
  const mark = url.indexOf('?')
  return mark < 0 ? url : url.slice(0, mark)
}

/** Express removes the path that we are mounted under from `url`, and keeps the whole one in `originalUrl`. */
export function originalUrl(raw: IncomingMessage): string {
  const { url = '', originalUrl: whole } = raw as IncomingMessage & { originalUrl?: unknown }
  return typeof whole === 'string' ? whole : url
}

/** True when another program must answer the request. The path decides, also for an absolute target (`GET http://host/path`). */
export function isOutside(basePath: string, raw: IncomingMessage): boolean {
  const path = pathOf(originalUrl(raw).replace(/^https?:\/\/[^/?#]*/i, ''))
  return pathUnder(basePath, path) === null
}
