// The table of all routes, and the code of each door.

import { createCheckAgentText } from '../config/agent/check-agent-text.ts'
import type { Ids } from '../domain/ids.ts'
import { type Door, doorNames } from '../doors.ts'
import type { TestRuns } from '../evaluation/test-runs.ts'
import type { DescribedErrors } from '../http/open-api/error-responses.ts'
import { createOpenApiRoutes } from '../http/open-api/routes.ts'
import { CONSOLE_FOLDER, createConsoleRoutes } from '../http/pages/console/routes.ts'
import { createDocsRoutes } from '../http/pages/docs/routes.ts'
import { createHomeRoutes } from '../http/pages/home/routes.ts'
import type { ErrorShape } from '../http/problem.ts'
import type { Route } from '../http/route.ts'
import { agUiDoor } from '../protocols/ag-ui/door.ts'
import { createManagedAgentRoutes } from '../protocols/manage/agents/routes.ts'
import { createApprovalRoutes } from '../protocols/manage/approvals/routes.ts'
import { createAuditRoutes } from '../protocols/manage/audit/routes.ts'
import { createChannelRoutes } from '../protocols/manage/channels/routes.ts'
import { createDeviceRoutes } from '../protocols/manage/devices/routes.ts'
import { createEventRoutes } from '../protocols/manage/events/routes.ts'
import { createFileRoutes } from '../protocols/manage/files/routes.ts'
import { createInboxRoutes } from '../protocols/manage/inbox/routes.ts'
import { createPolicyRoutes } from '../protocols/manage/policy/routes.ts'
import { createPushRoutes } from '../protocols/manage/push/routes.ts'
import { createSearchRoutes } from '../protocols/manage/search/routes.ts'
import { createSessionRoutes } from '../protocols/manage/sessions/routes.ts'
import { createStatsRoutes, type StatsRoutesDeps } from '../protocols/manage/stats/routes.ts'
import { createSupervisionRoutes } from '../protocols/manage/supervision/routes.ts'
import { createTokenRoutes } from '../protocols/manage/tokens/routes.ts'
import { createToolRoutes } from '../protocols/manage/tools/routes.ts'
import { createUsageRoutes } from '../protocols/manage/usage/routes.ts'
import { mcpDoor } from '../protocols/mcp/door.ts'
import { openAiDoor } from '../protocols/openai/door.ts'
import { restDoor } from '../protocols/rest/door.ts'
import { joinChatRoutes } from '../protocols/shared/chat-route/join-chat-routes.ts'
import type { ServedDoor } from '../protocols/shared/served-door.ts'
import { threadsDoor } from '../protocols/threads/door.ts'
import type { HookService } from '../supervision/hooks/hook-service.ts'
import type { Services, Working } from './create-services.ts'
import { operationsRoutes } from './operations-routes.ts'

/** What a door may take of the server. */
type DoorNeeds = Services & { ids: Ids; hooks: HookService }

const served: Readonly<Record<Door, ServedDoor<DoorNeeds>>> = {
  'ag-ui': agUiDoor,
  rest: restDoor,
  threads: threadsDoor,
  openai: openAiDoor,
  mcp: mcpDoor,
}
const servedDoors = doorNames.map((name) => served[name])

export function createRoutes(parts: Working & { tests: TestRuns }, readStats: StatsRoutesDeps['readStats']): Route[] {
  const { services, settings, tokens, stepUp, operators, dataDir, ids, version, program, basePath } = parts
  const { clock } = services
  const documented = [
    ...joinChatRoutes(
      servedDoors.flatMap((door) => door.routes({ ...services, ids, hooks: services.elsewhere.hooks })),
      settings.protocols,
    ),
    ...createSessionRoutes({ ...services, ids }),
    ...createSearchRoutes(services),
    ...createApprovalRoutes(services),
    ...createEventRoutes(services),
    ...createInboxRoutes(services),
    ...createSupervisionRoutes({ ...services, ...services.elsewhere, ...services.work }),
    ...createChannelRoutes(parts),
    ...createPushRoutes(parts),
    ...createToolRoutes(services),
    ...createTokenRoutes({ tokens, stepUp, operators, dataDir, clock }),
    ...createDeviceRoutes({
      ...parts.signIn,
      counts: parts.replica.counts,
      proofs: stepUp,
      audit: parts.audit,
      operators,
      base: parts.consoleUrl,
      clock,
      publicUrl: settings.channels.publicUrl,
      about: {
        version,
        program,
        agent: parts.answering.definition.name,
        operators: settings.supervision.operators.map(({ name }) => name),
      },
    }),
    ...createManagedAgentRoutes({ ...services, tests: parts.tests, checkAgentText: createCheckAgentText(services) }),
    ...createAuditRoutes(services),
    ...createUsageRoutes(services),
    ...createPolicyRoutes({ ...services, ...services.elsewhere, workspaces: parts.workspaces }),
    ...createStatsRoutes({ ...services, readStats }),
    ...createFileRoutes({ files: services.keeper, keys: parts.fileKeys }),
    ...operationsRoutes(parts, parts),
    ...createHomeRoutes({ hasConsole: settings.console, doors: settings.protocols }),
    ...createConsoleRoutes({ isOpen: settings.console, basePath, folder: CONSOLE_FOLDER }),
    ...createDocsRoutes(),
  ]
  return [
    ...documented,
    ...createOpenApiRoutes({
      title: 'Quarterdeck',
      version,
      basePath,
      routes: documented,
      publicDocs: settings.publicDocs,
      doors: settings.protocols,
      errors: describedErrors(),
    }),
  ]
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
