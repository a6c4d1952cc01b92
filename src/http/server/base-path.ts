// Where the routes live when they are part of another program's: `/agent` in front of each.

import { ServerError } from '../../domain/errors.ts'

const SEGMENTS = /^(?:\/[\w.~!$&'()*+,;=:@%-]+)+$/

/** As it is used: `/agent`, or nothing for `/`. Throws `config_invalid`. */
export function readBasePath(given: string): string {
  const path = given.replace(/\/+$/, '')
  const hasDots = path.split('/').some((segment) => segment === '.' || segment === '..')
  if (path === '' || (SEGMENTS.test(path) && !hasDots)) return path
  throw new ServerError('config_invalid', `basePath: ${JSON.stringify(given)} is not a path. Write one like /agent.`)
}

/** The path without its base, `/` for the base itself; null when it lies outside. */
export function pathUnder(base: string, path: string): string | null {
  // `OPTIONS *` asks about the server as a whole.
  if (base === '' || path === '*') return path
  if (path === base) return '/'
  return path.startsWith(`${base}/`) ? path.slice(base.length) : null
}

/** A header's value as clients see it: `Location` and `Link` name routes, and those begin with the base. */
export function headerUnder(base: string, name: string, value: string): string {
  if (name === 'Location' && value.startsWith('/')) return base + value
  return name === 'Link' ? value.replaceAll(/<(?=\/)/g, `<${base}`) : value
}
