import { editDistance } from '../../domain/edit-distance.ts'
import type { Route } from '../route.ts'

const MAX_PATH = 64
const MAX_HINTS = 3

/** Up to three routes, as `METHOD /path`, that the caller may have meant. */
export function nearRoutes(method: string, path: string, routes: readonly Route[]): string[] {
  // Anyone can send a path, and the comparison below takes time proportional to the product of both lengths.
  if (path.length > MAX_PATH) return []
  const asked = path.toLowerCase().split('/').filter(Boolean)
  return routes
    .map((route) => {
      const pattern = route.path.toLowerCase().split('/').filter(Boolean)
      // `/api/chat`: many servers have a prefix.
      return { route, distance: Math.min(distanceOf(asked, pattern), distanceOf(asked.slice(1), pattern) + 1) }
    })
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance || rank(a.route, method) - rank(b.route, method))
    .slice(0, MAX_HINTS)
    .map(({ route }) => `${route.method} ${route.path}`)
}

const rank = (route: Route, method: string): number => (route.method === method ? 0 : 1)

/** Counts typing errors between two paths with the same number of segments. A parameter matches anything. Infinite if a segment is a different word. */
function distanceOf(asked: readonly string[], pattern: readonly string[]): number {
  if (asked.length === 0 || asked.length !== pattern.length) return Number.POSITIVE_INFINITY
  const edits = pattern.map((word, i) => (word.startsWith(':') ? 0 : editDistance(asked[i] ?? '', word)))
  const isOther = pattern.some((word, i) => (edits[i] ?? 0) * 2 > word.length)
  return isOther ? Number.POSITIVE_INFINITY : edits.reduce((sum, count) => sum + count, 0)
}
