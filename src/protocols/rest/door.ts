// REST is two protocols: messages to a named agent, and chat with its sessions.

import { problemShape } from '../../http/problem.ts'
import { agentErrorShape } from '../agent/error-shape.ts'
import type { AgentRoutesDeps } from '../agent/routes.ts'
import { chatErrorShape } from '../chat/error-shape.ts'
import type { ChatRoutesDeps } from '../chat/routes.ts'
import type { ServedDoor } from '../shared/served-door.ts'

export const restDoor: ServedDoor<AgentRoutesDeps & ChatRoutesDeps> = {
  segments: ['agent', 'chat'],
  errorShape: problemShape,
  errors: {
    Agent: [{ shape: agentErrorShape }],
    'Chat and sessions': [{ shape: problemShape }, { shape: chatErrorShape }],
  },
  own: ['agent', 'chat', 'sessions/'],
  async routes(needs) {
    const [{ createAgentRoutes }, { createChatRoutes }] = await Promise.all([
      import('../agent/routes.ts'),
      import('../chat/routes.ts'),
    ])
    return [...createAgentRoutes(needs), ...createChatRoutes(needs)]
  },
}
