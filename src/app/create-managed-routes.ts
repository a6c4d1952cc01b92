// The routes to manage what the server has. The console, `ctl` and scripts use them.

import { createCheckAgentText } from '../config/agent/check-agent-text.ts'
import { serverSecrets } from '../config/server-secrets.ts'
import { LOCAL_USER } from '../domain/session/session.ts'
import { createMask } from '../domain/text/mask.ts'
import type { Route } from '../http/route.ts'
import { createManagedAgentRoutes } from '../protocols/manage/agents/routes.ts'
import { createApprovalRoutes } from '../protocols/manage/approvals/routes.ts'
import { createAuditRoutes } from '../protocols/manage/audit/routes.ts'
import { createChannelRoutes } from '../protocols/manage/channels/routes.ts'
import { createDeviceRoutes } from '../protocols/manage/devices/routes.ts'
import { createEventRoutes } from '../protocols/manage/events/routes.ts'
import { createFileRoutes } from '../protocols/manage/files/routes.ts'
import { createInboxRoutes } from '../protocols/manage/inbox/routes.ts'
import { createKnowledgeRoutes } from '../protocols/manage/knowledge/routes.ts'
import { createMemoryRoutes } from '../protocols/manage/memories/routes.ts'
import { createPolicyRoutes } from '../protocols/manage/policy/routes.ts'
import { createPushRoutes } from '../protocols/manage/push/routes.ts'
import { createScheduleRoutes } from '../protocols/manage/schedules/routes.ts'
import { createSearchRoutes } from '../protocols/manage/search/routes.ts'
import { createSessionRoutes } from '../protocols/manage/sessions/routes.ts'
import { createMcpSignInRoutes } from '../protocols/manage/sign-ins/routes.ts'
import { createStatsRoutes, type StatsRoutesDeps } from '../protocols/manage/stats/routes.ts'
import { createSupervisionRoutes } from '../protocols/manage/supervision/routes.ts'
import { createTokenRoutes } from '../protocols/manage/tokens/routes.ts'
import { createToolRoutes } from '../protocols/manage/tools/routes.ts'
import { createUsageRoutes } from '../protocols/manage/usage/routes.ts'
import { createUserRoutes } from '../protocols/manage/users/routes.ts'
import type { Later } from './create-routes.ts'
import type { Working } from './create-services.ts'
import { createDesk } from './open-sign-ins.ts'

export function createManagedRoutes(parts: Working & Later, readStats: StatsRoutesDeps['readStats']): Route[] {
  const { services, settings, tokens, stepUp, operators, dataDir, ids, version, program } = parts
  const { clock } = services
  const desk = createDesk(parts)
  const schedules = parts.schedules.load
  const { operators: people } = settings.supervision
  return [
    ...createSessionRoutes({ ...services, ids, maskText: createMask(serverSecrets(parts)) }),
    ...createSearchRoutes(services),
    ...createApprovalRoutes(services),
    ...createEventRoutes(services),
    ...createInboxRoutes(services),
    ...createSupervisionRoutes({ ...services, ...services.elsewhere, ...services.work }),
    ...createChannelRoutes(parts),
    ...createPushRoutes(parts),
    ...createToolRoutes(services),
    ...createMcpSignInRoutes({ desk, base: parts.consoleUrl }),
    ...createTokenRoutes({ tokens, stepUp, operators, dataDir, clock }),
    ...createDeviceRoutes({
      ...parts.signIn,
      counts: parts.replica.counts,
      proofs: stepUp,
      audit: parts.audit,
      tokens,
      operators,
      named: people.filter(({ name, logins }) => name !== LOCAL_USER && logins.length === 0).map(({ name }) => name),
      base: parts.consoleUrl,
      clock,
      publicUrl: settings.channels.publicUrl,
      about: {
        version,
        program,
        agent: parts.answering.definition.name,
        operators: people.map(({ name }) => name),
      },
    }),
    ...createManagedAgentRoutes({ ...services, tests: parts.tests, checkAgentText: createCheckAgentText(services) }),
    ...createScheduleRoutes({ schedules }),
    ...createAuditRoutes(services),
    ...createUsageRoutes(services),
    ...createKnowledgeRoutes({
      knowledge: parts.knowledge,
      agents: services.engine.agents.list,
      spent: (agent, all) =>
        parts.sessionLog.commit({ type: 'add_usage', usage: all.map((usage) => ({ at: clock.now(), agent, usage })) }),
    }),
    ...createMemoryRoutes(services),
    ...createUserRoutes({ ...services, ...parts, ...parts.signIn, desk, schedules }),
    ...createPolicyRoutes({ ...services, ...services.elsewhere, workspaces: parts.workspaces }),
    ...createStatsRoutes({ ...services, readStats }),
    ...createFileRoutes({ files: services.keeper, keys: parts.fileKeys }),
  ]
}
