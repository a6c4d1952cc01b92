// Agents that work elsewhere come in here: with MCP, and with the hooks of their hosts.

import type { Clock } from '../../domain/clock.ts'
import type { HookService } from '../../supervision/hooks/hook-service.ts'
import type { ServedDoor } from '../shared/served-door.ts'
import { McpErrorSchema, mcpErrorShape } from './error-shape.ts'
import type { McpDoor } from './mcp-door.ts'

interface McpNeeds {
  mcp: Pick<McpDoor, 'handle'>
  hooks: HookService
  clock: Clock
}

export const mcpDoor: ServedDoor<McpNeeds> = {
  segments: ['mcp', 'sse', '/messages'],
  errorShape: mcpErrorShape,
  errors: { MCP: [{ shape: mcpErrorShape, schema: McpErrorSchema }] },
  own: ['mcp', 'sse', 'messages/', 'hooks'],
  async routes({ mcp, hooks, clock }) {
    const [{ createMcpRoutes }, { createHookRoutes }] = await Promise.all([
      import('./routes.ts'),
      import('../hooks/routes.ts'),
    ])
    return [...createMcpRoutes({ door: mcp }), ...createHookRoutes({ service: hooks, clock })]
  },
}
