// The door, opened by its first request: the SDK takes a tenth of a second to load, and most servers supervise nobody.

import type { SessionLimits } from './legacy-sessions.ts'
import type { McpDoor, McpDoorOptions } from './mcp-door.ts'

export const usualSessionLimits: SessionLimits = { perToken: 16, all: 500, idleMs: 24 * 60 * 60 * 1000 }

export function createLaterDoor(options: McpDoorOptions): McpDoor {
  let opening: Promise<McpDoor> | null = null
  let door: McpDoor | null = null
  let isClosed = false

  async function open(): Promise<McpDoor> {
    const { createMcpDoor } = await import('./mcp-door.ts')
    door = createMcpDoor(options)
    if (isClosed) await door.close()
    return door
  }

  return {
    async handle(request, reply) {
      opening ??= open()
      return (await opening).handle(request, reply)
    },
    async close() {
      isClosed = true
      await door?.close()
    },
  }
}
