// The table of all routes. A new protocol is a folder in `protocols/` and one line here.

import { createCheckAgentText } from './config/agent/check-agent-text.ts'
import type { ServerSettings } from './config/settings/server-settings.ts'
import type { Channels } from './create-channels.ts'
import type { Services } from './create-services.ts'
import type { SupervisedWork } from './create-supervised-work.ts'
import type { Ids } from './domain/ids.ts'
import type { ProgramWords } from './domain/program-words.ts'
import type { StepUp } from './domain/step-up.ts'
import type { TestRuns } from './evaluation/test-runs.ts'
import type { FileKeys } from './http/auth/file-keys.ts'
import type { Tokens } from './http/auth/tokens/tokens.ts'
import { createOpenApiRoutes } from './http/open-api/routes.ts'
import { createConsoleRoutes } from './http/pages/console/routes.ts'
import { createDocsRoutes } from './http/pages/docs/routes.ts'
import { createHomeRoutes } from './http/pages/home/routes.ts'
import { problemShape } from './http/problem.ts'
import type { Route } from './http/route.ts'
import { createAgentCoreRoutes } from './protocols/ag-ui/agent-core/routes.ts'
import { createCopilotKitRoutes } from './protocols/ag-ui/copilotkit/routes.ts'
import { agUiErrorShape, createAgUiRoutes } from './protocols/ag-ui/routes.ts'
import { agentErrorShape, createAgentRoutes } from './protocols/agent/routes.ts'
import { chatErrorShape } from './protocols/chat/error-shape.ts'
import { createChatRoutes } from './protocols/chat/routes.ts'
import { createHookRoutes } from './protocols/hooks/routes.ts'
import { createManagedAgentRoutes } from './protocols/manage/agents/routes.ts'
import { createApprovalRoutes } from './protocols/manage/approvals/routes.ts'
import { createAuditRoutes } from './protocols/manage/audit/routes.ts'
import { createChannelRoutes } from './protocols/manage/channels/routes.ts'
import { createDeviceRoutes, type DeviceRoutesDeps } from './protocols/manage/devices/routes.ts'
import { createEventRoutes } from './protocols/manage/events/routes.ts'
import { createFileRoutes } from './protocols/manage/files/routes.ts'
import { createInboxRoutes } from './protocols/manage/inbox/routes.ts'
import { createPolicyRoutes } from './protocols/manage/policy/routes.ts'
import { createPushRoutes } from './protocols/manage/push/routes.ts'
import { createSearchRoutes } from './protocols/manage/search/routes.ts'
import { createSessionRoutes } from './protocols/manage/sessions/routes.ts'
import { createStatsRoutes, type ServerStats } from './protocols/manage/stats/routes.ts'
import { createSupervisionRoutes } from './protocols/manage/supervision/routes.ts'
import { createTokenRoutes } from './protocols/manage/tokens/routes.ts'
import { createToolRoutes } from './protocols/manage/tools/routes.ts'
import { createUsageRoutes } from './protocols/manage/usage/routes.ts'
import { McpErrorSchema } from './protocols/mcp/describe.ts'
import { mcpErrorShape } from './protocols/mcp/error-shape.ts'
import { createMcpRoutes } from './protocols/mcp/routes.ts'
import { ErrorBodySchema } from './protocols/openai/describe.ts'
import { openAiErrorShape } from './protocols/openai/error-shape.ts'
import { createOpenAiRoutes } from './protocols/openai/routes.ts'
import { joinChatRoutes } from './protocols/shared/chat-route/join-chat-routes.ts'
import { threadErrorShape } from './protocols/threads/error-shape.ts'
import { createThreadRoutes } from './protocols/threads/routes.ts'
import type { Workspaces } from './supervision/workspace/allowed-workspace.ts'

interface RouteParts {
  services: Services
  work: SupervisedWork
  channels: Channels
  /** Routes that answered before the store was open. */
  early: readonly Route[]
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
  work,
  channels,
  early,
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
    ...createAgUiRoutes(services),
    ...createCopilotKitRoutes(services),
    ...createSessionRoutes({ ...services, ids }),
    ...createSearchRoutes(services),
    ...createApprovalRoutes(services),
    ...createEventRoutes(services),
    ...createInboxRoutes(services),
    ...createSupervisionRoutes({ ...services, ...services.elsewhere, ...work }),
    ...createChannelRoutes(channels),
    ...createPushRoutes(channels),
    ...createToolRoutes(services),
    ...createTokenRoutes({ tokens, stepUp, operators: signIn.operators, dataDir, clock: services.clock }),
    ...createDeviceRoutes({
      ...{ ...signIn, clock: services.clock, publicUrl: settings.channels.publicUrl },
      about: {
        ...{ version, program, agent: signIn.agent },
        operators: settings.supervision.operators.map(({ name }) => name),
      },
    }),
    ...createManagedAgentRoutes({ ...services, tests, checkAgentText: createCheckAgentText(services) }),
    ...createAuditRoutes(services),
    ...createUsageRoutes(services),
    ...createPolicyRoutes({ ...services, ...services.elsewhere, workspaces }),
    ...createStatsRoutes({ ...services, readStats }),
    ...createFileRoutes({ files: services.keeper, keys: fileKeys }),
    ...createAgentRoutes({ ...services, ids }),
    ...createAgentCoreRoutes(services),
    ...joinChatRoutes(
      [...createChatRoutes({ ...services, ids }), ...createThreadRoutes({ ...services, ids })],
      settings.protocols,
    ),
    ...createOpenAiRoutes({ ...services, ids }),
    ...createMcpRoutes({ door: services.mcp }),
    ...createHookRoutes({ desk: services.elsewhere.hooks, clock: services.clock }),
    ...early,
    ...createHomeRoutes({ hasConsole: settings.console, doors: settings.protocols }),
    ...createConsoleRoutes({ isOpen: settings.console, basePath }),
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
      errors: {
        OpenAI: [{ shape: openAiErrorShape, schema: ErrorBodySchema }],
        MCP: [{ shape: mcpErrorShape, schema: McpErrorSchema }],
        'AG-UI': [{ shape: agUiErrorShape }],
        CopilotKit: [{ shape: agUiErrorShape }],
        Agent: [{ shape: agentErrorShape }],
        'Chat and sessions': [{ shape: problemShape }, { shape: chatErrorShape }, { shape: threadErrorShape }],
        'Chat and threads': [{ shape: problemShape }, { shape: threadErrorShape }],
      },
    }),
  ]
}

/** By the first segment of the path, so that an unknown route of a protocol answers in its shape too. Others answer problems. */
export const errorShapes = {
  v1: openAiErrorShape,
  threads: threadErrorShape,
  tool_result: threadErrorShape,
  mcp: mcpErrorShape,
  sse: mcpErrorShape,
  messages: mcpErrorShape,
  // `POST /` belongs to AG-UI.
  '': agUiErrorShape,
  awp: agUiErrorShape,
  agents: agUiErrorShape,
  capabilities: agUiErrorShape,
  copilotkit: agUiErrorShape,
}
