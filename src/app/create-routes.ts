// The table of all routes, and the code of each door.

import { createCheckAgentText } from '../config/agent/check-agent-text.ts'
import type { ServerSettings } from '../config/settings/server-settings.ts'
import type { Ids } from '../domain/ids.ts'
import type { ProgramWords } from '../domain/settings/program-words.ts'
import type { StepUp } from '../domain/supervision/step-up.ts'
import { type Door, doorNames } from '../doors.ts'
import type { TestRuns } from '../evaluation/test-runs.ts'
import type { FileKeys } from '../http/auth/file-keys.ts'
import type { Tokens } from '../http/auth/tokens/tokens.ts'
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
import { createDeviceRoutes, type DeviceRoutesDeps } from '../protocols/manage/devices/routes.ts'
import { createEventRoutes } from '../protocols/manage/events/routes.ts'
import { createFileRoutes } from '../protocols/manage/files/routes.ts'
import { createInboxRoutes } from '../protocols/manage/inbox/routes.ts'
import { createPolicyRoutes } from '../protocols/manage/policy/routes.ts'
import { createPushRoutes } from '../protocols/manage/push/routes.ts'
import { createSearchRoutes } from '../protocols/manage/search/routes.ts'
import { createSessionRoutes } from '../protocols/manage/sessions/routes.ts'
import { createStatsRoutes, type ServerStats } from '../protocols/manage/stats/routes.ts'
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
import type { Workspaces } from '../supervision/workspace/allowed-workspace.ts'
import type { Services } from './create-services.ts'
import type { OpenOutbox } from './open-outbox.ts'

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

interface RouteParts {
  services: Services
  channels: Pick<OpenOutbox, 'channelService' | 'push'>
  /** Health and metrics. */
  operations: readonly Route[]
  settings: ServerSettings
  tokens: Tokens
  stepUp: StepUp
  signIn: Omit<DeviceRoutesDeps, 'about' | 'clock' | 'publicUrl'> & { agent: string }
  workspaces: Workspaces
  tests: TestRuns
  readStats: () => Promise<ServerStats>
  fileKeys: FileKeys
  dataDir: string
  ids: Ids
  version: string
  program: ProgramWords
  basePath: string
}

export function createRoutes({
  services,
  channels,
  operations,
  settings,
  tokens,
  stepUp,
  signIn,
  workspaces,
  tests,
  readStats,
  fileKeys,
  dataDir,
  ids,
  version,
  program,
  basePath,
}: RouteParts): Route[] {
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
    ...createChannelRoutes(channels),
    ...createPushRoutes(channels),
    ...createToolRoutes(services),
    ...createTokenRoutes({ tokens, stepUp, operators: signIn.operators, dataDir, clock: services.clock }),
    ...createDeviceRoutes({
      ...signIn,
      clock: services.clock,
      publicUrl: settings.channels.publicUrl,
      about: {
        version,
        program,
        agent: signIn.agent,
        operators: settings.supervision.operators.map(({ name }) => name),
      },
    }),
    ...createManagedAgentRoutes({ ...services, tests, checkAgentText: createCheckAgentText(services) }),
    ...createAuditRoutes(services),
    ...createUsageRoutes(services),
    ...createPolicyRoutes({ ...services, ...services.elsewhere, workspaces }),
    ...createStatsRoutes({ ...services, readStats }),
    ...createFileRoutes({ files: services.keeper, keys: fileKeys }),
    ...operations,
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
