import type { Door, Route, RouteGroup } from '../route.ts'
import { createRouter, type Router } from './router.ts'

export interface LaterRouter extends Router {
  /** Loads the routes that a path may lead to. Null: they are here. Rejects if their code cannot be loaded; the next call tries again. */
  load(path: string): Promise<void> | null
}

/** Knows `routes`, and those of the groups that were asked for. */
export function createLaterRouter(
  routes: readonly Route[],
  groups: readonly RouteGroup[],
  openDoors: ReadonlySet<Door>,
): LaterRouter {
  const here = new Set(routes.map(({ path }) => firstSegment(path)))
  const missing = new Set(groups)
  let known = routes
  let router = createRouter(known, openDoors)

  async function add(group: RouteGroup): Promise<void> {
    const added = await group.load()
    // Somebody else has asked for it, too.
    if (!missing.delete(group)) return
    known = [...known, ...added]
    router = createRouter(known, openDoors)
  }

  return {
    load(path) {
      if (missing.size === 0) return null
      const segment = firstSegment(path)
      const named = groups.filter(({ segments }) => segments.includes(segment))
      const asked = named.length > 0 || here.has(segment) ? named : groups
      const waiting = asked.filter((group) => missing.has(group))
      return waiting.length === 0 ? null : Promise.all(waiting.map(add)).then(() => {})
    },
    find: (method, path) => router.find(method, path),
    methods: (path) => router.methods(path),
  }
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? ''
