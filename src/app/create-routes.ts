// The table of all routes. Most of them are loaded when somebody asks for them.

import type { Ids } from '../domain/ids.ts'
import { type Door, doorNames } from '../doors.ts'
import type { TestRuns } from '../evaluation/test-runs.ts'
import type { DescribedErrors } from '../http/open-api/error-responses.ts'
import { createOpenApiRoutes } from '../http/open-api/routes.ts'
import { CONSOLE_FOLDER, createConsoleRoutes } from '../http/pages/console/routes.ts'
import { createDocsRoutes } from '../http/pages/docs/routes.ts'
import { createHomeRoutes } from '../http/pages/home/routes.ts'
import type { ErrorShape } from '../http/problem.ts'
import type { Route, RouteGroup } from '../http/route.ts'
import { agUiDoor } from '../protocols/ag-ui/door.ts'
import { aiDoor } from '../protocols/ai/door.ts'
import type { StatsRoutesDeps } from '../protocols/manage/stats/routes.ts'
import { mcpDoor } from '../protocols/mcp/door.ts'
import { openAiDoor } from '../protocols/openai/door.ts'
import { restDoor } from '../protocols/rest/door.ts'
import type { ServedDoor } from '../protocols/shared/served-door.ts'
import { threadsDoor } from '../protocols/threads/door.ts'
import type { HookService } from '../supervision/hooks/hook-service.ts'
import type { Services, Working } from './create-services.ts'
import type { OpenSchedules } from './open-schedules.ts'
import { operationsRoutes } from './operations-routes.ts'

/** What a door may take of the server. */
type DoorNeeds = Services & { ids: Ids; hooks: HookService }

const served: Readonly<Record<Door, ServedDoor<DoorNeeds>>> = {
  'ag-ui': agUiDoor,
  rest: restDoor,
  threads: threadsDoor,
  openai: openAiDoor,
  ai: aiDoor,
  mcp: mcpDoor,
}
const servedDoors = doorNames.map((name) => served[name])

/** What routes are about, and nothing else of the server needs. */
export interface Later {
  tests: TestRuns
  schedules: OpenSchedules
}

/** `routes` are here, `groups` are loaded when somebody asks for them. `all` loads everything. */
export interface RouteTable {
  routes: readonly Route[]
  groups: readonly RouteGroup[]
  all(): Promise<Route[]>
}

export function createRoutes(parts: Working & Later, readStats: StatsRoutesDeps['readStats']): RouteTable {
  const { services, settings, ids, version, basePath } = parts
  const needs = { ...services, ids, hooks: services.elsewhere.hooks }
  const groupOf = (...doors: ServedDoor<DoorNeeds>[]): RouteGroup => ({
    segments: doors.flatMap(({ own }) => own),
    load: once(async () => {
      const { joinChatRoutes } = await import('../protocols/shared/chat-route/join-chat-routes.ts')
      const routes = await Promise.all(doors.map((door) => door.routes(needs)))
      return joinChatRoutes(routes.flat(), settings.protocols)
    }),
  })
  const managed: RouteGroup = {
    segments: [],
    load: once(async () => {
      const { createManagedRoutes } = await import('./create-managed-routes.ts')
      return createManagedRoutes(parts, readStats)
    }),
  }
  // REST and threads have one `POST /chat`, so they are loaded together.
  const groups = [
    groupOf(served['ag-ui']),
    groupOf(served.rest, served.threads),
    groupOf(served.openai),
    groupOf(served.ai),
    groupOf(served.mcp),
    managed,
  ]
  const small = [
    ...operationsRoutes(parts, parts),
    ...createHomeRoutes({ hasConsole: settings.console, doors: settings.protocols }),
    ...createConsoleRoutes({ isOpen: settings.console, basePath, folder: CONSOLE_FOLDER, ...settings.talk }),
    ...createDocsRoutes(),
  ]
  const documented = async () => [...(await Promise.all(groups.map((group) => group.load()))).flat(), ...small]
  const description = createOpenApiRoutes({
    title: 'Quarterdeck',
    version,
    basePath,
    routes: documented,
    publicDocs: settings.publicDocs,
    doors: settings.protocols,
    errors: describedErrors(),
  })
  return { routes: [...small, ...description], groups, all: async () => [...(await documented()), ...description] }
}

/** Code that could not be loaded is asked for again. */
function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | null = null
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = null
      throw error
    })
    return loaded
  }
}

/** By the first segment of the path, so that an unknown route of a door answers in its shape too. Others answer problems. */
export const errorShapes: Readonly<Record<string, ErrorShape>> = Object.fromEntries(
  servedDoors.flatMap(({ segments, errorShape }) => segments.map((segment) => [segment, errorShape])),
)

/** By tag. Two doors may have routes under one tag. */
function describedErrors(): Record<string, DescribedErrors[]> {
  const all = servedDoors.flatMap(({ errors }) => Object.entries(errors))
  const byTag = Object.groupBy(all, ([tag]) => tag)
  return Object.fromEntries(Object.entries(byTag).map(([tag, found = []]) => [tag, found.flatMap(([, own]) => own)]))
}
