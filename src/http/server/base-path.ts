// The base path of a mounted server, for example `/agent`. It comes before every route.

import { ServerError } from '../../domain/errors.ts'

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
