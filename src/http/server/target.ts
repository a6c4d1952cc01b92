// What a request asks for: the path and query of its request line.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { ServerError } from '../../domain/errors.ts'

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

// The base path of a mounted server, for example `/agent`. It comes before every route.

const SEGMENTS = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/

/** Checks the path and removes its last slash: `/agent`, or an empty string for `/`. Throws `config_invalid`. */
export function readBasePath(given: string): string {
  const path = given.replace(/\/+$/, '')
  const hasDots = path.split('/').some((segment) => segment === '.' || segment === '..')
  if (path === '' || (SEGMENTS.test(path) && !hasDots)) return path
  throw new ServerError('config_invalid', `basePath: ${JSON.stringify(given)} is not a path. Write one like /agent.`)
}

/** The path without its base, and `/` for the base itself. Null if the path is outside the base. */
export function pathUnder(base: string, path: string): string | null {
  // `OPTIONS *` asks about the server as a whole.
  if (base === '' || path === '*') return path
  if (path === base) return '/'
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null
}

/** Adds the base to header values that contain paths: `Location` and `Link`. */
export function headerUnder(base: string, name: string, value: string): string {
  if (name === 'Location' && value.startsWith('/')) return base + value
  return name === 'Link' ? value.replaceAll(/<(?=\/)/g, `<${base}`) : value
}

/** Whether it is a TLS connection. `instanceof TLSSocket` would load all of node:tls, which a server without TLS does not need. */
export const isEncrypted = (socket: Socket): boolean => 'encrypted' in socket && socket.encrypted === true

/** Node silently keeps the first of several headers. A proxy in front of us may have checked the last one. `name` is in lower case. */
export function countHeader({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i]
    if (candidate?.length === name.length && candidate.toLowerCase() === name) count += 1
  }
  return count
}
