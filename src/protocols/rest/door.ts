// REST is two protocols: messages to a named agent, and chat with its sessions.

import { problemShape } from '../../http/problem.ts'
import { type AgentRoutesDeps, agentErrorShape, createAgentRoutes } from '../agent/routes.ts'
import { type ChatRoutesDeps, chatErrorShape, createChatRoutes } from '../chat/routes.ts'
import type { ServedDoor } from '../shared/served-door.ts'

export const restDoor: ServedDoor<AgentRoutesDeps & ChatRoutesDeps> = {
  segments: ['agent', 'chat'],
  errorShape: problemShape,
  errors: {
    Agent: [{ shape: agentErrorShape }],
    'Chat and sessions': [{ shape: problemShape }, { shape: chatErrorShape }],
  },
  routes: (needs) => [...createAgentRoutes(needs), ...createChatRoutes(needs)],
}
