// Connections of MCP clients wherever they are open: in this process, or in another one on the same store.

import { z } from 'zod'
import type { McpPush, OpenClients } from './open-clients.ts'

export interface SharedConnections {
  /** As `OpenClients.push`, also through another process. */
  push(connectionId: string, push: McpPush): Promise<'stream' | 'call' | null>
  /** As `OpenClients.isOpen`. What other processes say is a few seconds old. */
  isOpen(connectionId: string): boolean
}

interface Replica {
  board: {
    say(topic: string, what: () => unknown): void
    heard(topic: string): readonly { replica: string; said: unknown }[]
    listen(topic: string): Promise<readonly { replica: string; said: unknown }[]>
  }
  calls: {
    serve(what: string, answer: (asked: unknown) => Promise<unknown>): void
    ask(replica: string, what: string, asked: unknown, limitMs: number): Promise<{ answer: unknown } | null>
  }
}

const OPEN = 'mcp connections'
const PUSH = 'mcp push'
const ASK_MS = 5_000

const AskedSchema = z.object({
  connectionId: z.string(),
  push: z.object({ method: z.string(), params: z.record(z.string(), z.unknown()), message: z.string() }),
})
const WaySchema = z.enum(['stream', 'call']).nullable()

export function shareConnections(
  here: Pick<OpenClients, 'push' | 'isOpen' | 'list'>,
  { board, calls }: Replica,
): SharedConnections {
  board.say(OPEN, here.list)
  calls.serve(PUSH, async (asked) => {
    const { connectionId, push } = AskedSchema.parse(asked)
    return here.push(connectionId, push)
  })
  const has = ({ said }: { said: unknown }, connectionId: string): boolean =>
    Array.isArray(said) && said.includes(connectionId)
  return {
    async push(connectionId, push) {
      const sent = here.push(connectionId, push)
      if (sent !== null) return sent
      for (const heard of await board.listen(OPEN)) {
        if (!has(heard, connectionId)) continue
        const answered = await calls.ask(heard.replica, PUSH, { connectionId, push }, ASK_MS)
        const way = WaySchema.parse(answered?.answer ?? null)
        if (way !== null) return way
      }
      return null
    },
    isOpen: (connectionId) => here.isOpen(connectionId) || board.heard(OPEN).some((heard) => has(heard, connectionId)),
  }
}
