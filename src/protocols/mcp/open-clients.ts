// The MCP clients of this process that something is open for. The door enters them; whoever wakes an agent looks here, and needs no door.

export interface McpPush {
  /** For example `quarterdeck/nudge`. */
  method: string
  params: Record<string, unknown>
  /** The same in words. Hosts that drop an unknown notification show it as a log message. */
  message: string
}

/**
 * What is open: a `bridge` that only says that its host is there, the client's own `stream` for what nobody asked for, or a `call` in
 * work, whose answer can carry it too.
 */
type OpenClient = {
  connectionId: string
  /** False: its client may be gone. */
  isThere(): boolean
} & ({ by: 'bridge' } | { by: 'stream' | 'call'; send(push: McpPush): void })

export interface OpenClients {
  /** It is open until the returned function is called. */
  enter(client: OpenClient): () => void
  /** Sends a notification to a client without being asked. Null: nothing was open, and nothing was sent. */
  push(connectionId: string, push: McpPush): 'stream' | 'call' | null
  /** A stream or a call of this client is open, or its bridge is there, and the client answers when it is asked. */
  isOpen(connectionId: string): boolean
  hasBridge(connectionId: string): boolean
  /** The connections that are open. */
  list(): string[]
}

export function createOpenClients(): OpenClients {
  const clients = new Set<OpenClient>()
  const of = (connectionId: string) => [...clients].filter((one) => one.connectionId === connectionId)
  return {
    enter(client) {
      clients.add(client)
      return () => void clients.delete(client)
    },
    push(connectionId, push) {
      const open = of(connectionId)
      const way =
        open.find(({ by }) => by === 'stream') ?? open.find((one) => one.by === 'call' && one.isThere()) ?? null
      if (way === null || way.by === 'bridge') return null
      way.send(push)
      return way.by
    },
    isOpen: (connectionId) => of(connectionId).some((one) => one.isThere()),
    hasBridge: (connectionId) => of(connectionId).some(({ by }) => by === 'bridge'),
    list: () => [...new Set([...clients].filter((one) => one.isThere()).map((one) => one.connectionId))],
  }
}
