// The route table, compiled once. Paths without parameters are looked up in a Map, the others by their segments.
// `*name` at the end of a path matches all that follows, also nothing.

import { ServerError } from '../../domain/errors.ts'
import { editDistance } from '../../domain/text/did-you-mean.ts'
import type { Door, Route } from '../route.ts'

export interface Router {
  /** Throws `route_not_found`, `method_not_allowed`, `door_closed`, or `invalid_request` for a path that cannot be decoded. */
  find(method: string, path: string): Match
  /** The methods that a path answers, or an empty list. `*` is the server as a whole. */
  methods(path: string): string[]
}

export interface Match {
  route: Route
  params: Readonly<Record<string, string>>
}

interface Place {
  /** Null matches any one segment. */
  segments: readonly (string | null)[]
  /** More segments may follow. They are the last parameter. */
  hasRest: boolean
  names: readonly string[]
  routes: Map<string, Route>
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

export function createRouter(routes: readonly Route[], openDoors: ReadonlySet<Door>): Router {
  const places = new Map<string, Place>()
  for (const route of routes) addRoute(places, route)
  const fixed = new Map([...places].filter(([, place]) => place.names.length === 0))
  // Fixed segments come before parameters, so that `/agents/info` is not read as the agent "info" of `/agents/:name`.
  const open = [...places.values()].filter((place) => place.names.length > 0).sort(byFixedSegments)
  const isOpen = (route: Route) => route.door === null || openDoors.has(route.door)
  const openRoutes = routes.filter(isOpen)

  function locate(path: string): { place: Place; segments: readonly string[] } | undefined {
    const exact = fixed.get(path)
    if (exact !== undefined) return { place: exact, segments: [] }
    // One trailing slash is ignored: clients build paths from a base URL, and a redirect would lose the body.
    const plain = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
    const forgiven = fixed.get(plain)
    if (forgiven !== undefined) return { place: forgiven, segments: [] }
    const segments = plain.split('/')
    const place = open.find((candidate) => fits(candidate, segments))
    return place && { place, segments }
  }

  return {
    find(method, path) {
      const found = locate(path)
      if (found === undefined) throw routeNotFound(method, path, openRoutes)
      // HEAD is GET without the body. Node leaves the body out.
      const route = found.place.routes.get(method === 'HEAD' ? 'GET' : method)
      if (route !== undefined && isOpen(route)) return { route, params: paramsOf(found.place, found.segments) }
      const allow = methodsOf(found.place, isOpen)
      const closed = route ?? found.place.routes.values().next().value
      if ((route !== undefined || allow.length === 0) && closed?.door) throw doorClosed(closed.door)
      throw methodNotAllowed(method, path, allow)
    },
    methods(path) {
      if (path === '*') return ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']
      const found = locate(path)
      return found === undefined ? [] : methodsOf(found.place, isOpen)
    },
  }
}

function addRoute(places: Map<string, Place>, route: Route): void {
  if (!route.path.startsWith('/')) throw new Error(`the path ${route.path} must begin with "/"`)
  const parts = route.path.split('/')
  const names = parts.filter((part) => /^[:*]/.test(part)).map((part) => part.slice(1))
  const hasRest = parts.at(-1)?.startsWith('*') === true
  const segments = parts.slice(0, hasRest ? -1 : undefined).map((part) => (part.startsWith(':') ? null : part))
  if (segments.some((segment) => segment?.startsWith('*'))) throw new Error(`in ${route.path} something follows a "*"`)
  const key = [...segments.map((segment) => segment ?? ':'), ...(hasRest ? ['*'] : [])].join('/')
  const place = places.get(key) ?? { segments, hasRest, names, routes: new Map<string, Route>() }
  if (place.routes.has(route.method)) throw new Error(`two routes answer ${route.method} ${route.path}`)
  if (place.names.join() !== names.join())
    throw new Error(`${route.path} names its parameters differently from another route`)
  place.routes.set(route.method, route)
  places.set(key, place)
}

function byFixedSegments(a: Place, b: Place): number {
  if (a.hasRest !== b.hasRest) return a.hasRest ? 1 : -1
  const index = a.segments.findIndex((segment, i) => (segment === null) !== (b.segments[i] === null))
  return index < 0 ? 0 : a.segments[index] === null ? 1 : -1
}

// A parameter never matches an empty segment, so `//` matches no route.
function fits({ segments: pattern, hasRest }: Place, segments: readonly string[]): boolean {
  return (
    (hasRest ? pattern.length <= segments.length : pattern.length === segments.length) &&
    pattern.every((part, i) => (part === null ? segments[i] !== '' : part === segments[i])) &&
    !segments.slice(pattern.length).includes('')
  )
}

function paramsOf(place: Place, segments: readonly string[]): Readonly<Record<string, string>> {
  if (place.names.length === 0) return NO_PARAMS
  const values = segments.filter((_, i) => place.segments[i] === null).map(decodeSegment)
  if (place.hasRest) values.push(segments.slice(place.segments.length).map(decodeSegment).join('/'))
  return Object.fromEntries(place.names.map((name, i) => [name, values[i] ?? '']))
}

function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    throw new ServerError('invalid_request', 'The path is not valid percent-encoded UTF-8.')
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\0-\x1f\x7f]/.test(text)) throw new ServerError('invalid_request', 'The path contains a control character.')
  return text
}

function methodsOf(place: Place, isOpen: (route: Route) => boolean): string[] {
  const methods = [...place.routes.values()].filter(isOpen).flatMap((route) => {
    return route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]
  })
  return methods.length === 0 ? [] : [...methods, 'OPTIONS']
}

function routeNotFound(method: string, path: string, routes: readonly Route[]): ServerError {
  const near = nearRoutes(method, path, routes)
  const hint = near.length === 0 ? 'docs/look-up/http.md lists all routes.' : `Did you mean ${near.join(' or ')}?`
  return new ServerError(
    'route_not_found',
    `There is no route ${method} ${JSON.stringify(path.slice(0, 200))}. ${hint}`,
    {
      details: { near },
    },
  )
}

function methodNotAllowed(method: string, path: string, allow: string[]): ServerError {
  return new ServerError('method_not_allowed', `${path} does not answer ${method}; it answers ${allow.join(', ')}.`, {
    details: { allow },
  })
}

export function doorClosed(door: Door): ServerError {
  return new ServerError(
    'door_closed',
    `The protocol "${door}" is closed on this server. Start it with --protocol ${door}, or without --protocol to open all.`,
    { details: { door } },
  )
}

const MAX_PATH = 64
const MAX_HINTS = 3

/** Up to three routes, as `METHOD /path`, that the caller may have meant. */
function nearRoutes(method: string, path: string, routes: readonly Route[]): string[] {
  // Anyone can send a path, and the comparison below takes time proportional to the product of both lengths.
  if (path.length > MAX_PATH) return []
  const asked = path.toLowerCase().split('/').filter(Boolean)
  return routes
    .map((route) => {
      const pattern = withoutRest(route.path).toLowerCase().split('/').filter(Boolean)
      // `/api/chat`: many servers have a prefix.
      return { route, distance: Math.min(distanceOf(asked, pattern), distanceOf(asked.slice(1), pattern) + 1) }
    })
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance || rank(a.route, method) - rank(b.route, method))
    .slice(0, MAX_HINTS)
    .map(({ route }) => `${route.method} ${withoutRest(route.path)}`)
}

const withoutRest = (path: string): string => path.replace(/\/\*\w+$/, '')

const rank = (route: Route, method: string): number => (route.method === method ? 0 : 1)

/** Counts typing errors between two paths with the same number of segments. A parameter matches anything. Infinite if a segment is a different word. */
function distanceOf(asked: readonly string[], pattern: readonly string[]): number {
  if (asked.length === 0 || asked.length !== pattern.length) return Number.POSITIVE_INFINITY
  const edits = pattern.map((word, i) => (word.startsWith(':') ? 0 : editDistance(asked[i] ?? '', word)))
  const isOther = pattern.some((word, i) => (edits[i] ?? 0) * 2 > word.length)
  return isOther ? Number.POSITIVE_INFINITY : edits.reduce((sum, count) => sum + count, 0)
}
