// The door, opened by its first request: the SDK and the tools take a tenth of a second to load, and most servers supervise nobody.

import type { SessionLimits } from './legacy-sessions.ts'
import type { McpDoor, McpDoorOptions } from './mcp-door.ts'

export const usualSessionLimits: SessionLimits = { perToken: 16, all: 500, idleMs: 24 * 60 * 60 * 1000 }

/** `load` is called once, by the first request: what the door offers is loaded with it. */
export function createLaterDoor(load: () => Promise<McpDoorOptions>): McpDoor {
  let opening: Promise<McpDoor> | null = null
  let door: McpDoor | null = null
  let isClosed = false

  async function open(): Promise<McpDoor> {
    const [{ createMcpDoor }, options] = await Promise.all([import('./mcp-door.ts'), load()])
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
