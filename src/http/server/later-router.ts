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
  /** They name no paths, so theirs may be any that nobody else names. Most requests are for one of them. */
  const unnamed = groups.filter(({ segments }) => segments.length === 0)
  let known = routes
  let router = createRouter(known, openDoors)

  async function add(group: RouteGroup): Promise<void> {
    const added = await group.load()
    // Somebody else has asked for it, too.
    if (!missing.delete(group)) return
    known = [...known, ...added]
    // Elsewhere a group has only those of its paths that it names.
    if (group.segments.length === 0) for (const { path } of added) here.add(firstSegment(path))
    router = createRouter(known, openDoors)
  }

  function load(path: string): Promise<void> | null {
    if (missing.size === 0) return null
    const segment = firstSegment(path)
    const named = groups.filter(({ segments }) => segments.includes(segment))
    const shared = groups.filter(({ segments }) => segments.includes(`${segment}/`))
    const isNamed = named.length > 0 || here.has(segment)
    const asked = isNamed ? [...named, ...shared] : unnamed.some((group) => missing.has(group)) ? unnamed : groups
    const waiting = asked.filter((group) => missing.has(group))
    return waiting.length === 0 ? null : Promise.all(waiting.map(add)).then(() => load(path) ?? undefined)
  }

  return {
    load,
    find: (method, path) => router.find(method, path),
    methods: (path) => router.methods(path),
  }
}

const firstSegment = (path: string): string => path.split('/', 2)[1] ?? ''
