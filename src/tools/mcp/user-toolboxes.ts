// The tools of an agent where each user signs in to some MCP servers for themselves: every user has their own connections to those, and all
// share the others.

import type { Clock } from '../../domain/clock.ts'
import type { Tool, Toolbox } from '../tool.ts'
import type { McpServer } from './mcp-server.ts'

/** Connections of users who have not worked for this time are closed when there are many. */
const IDLE_MS = 15 * 60_000
const MANY = 50

export function createUserToolboxes(deps: {
  /** Of servers that are the same for everybody, and closes them. */
  common: Toolbox
  /** New connections for this user. */
  connect(user: string): McpServer[]
  /** A toolbox with these servers and the common ones. */
  join(own: readonly McpServer[]): Toolbox
  clock: Clock
}): Toolbox {
  const { common, clock } = deps
  const users = new Map<string, { own: readonly McpServer[]; toolbox: Toolbox; usedAt: number }>()

  function of(user: string): Toolbox {
    const known = users.get(user)
    if (known !== undefined) {
      known.usedAt = clock.mono()
      return known.toolbox
    }
    if (users.size >= MANY) closeIdle()
    const own = deps.connect(user)
    const toolbox = deps.join(own)
    users.set(user, { own, toolbox, usedAt: clock.mono() })
    return toolbox
  }

  function closeIdle(): void {
    for (const [user, { own, usedAt }] of users) {
      if (clock.mono() - usedAt < IDLE_MS) continue
      users.delete(user)
      void closeAll(own)
    }
  }

  return {
    start: () => common.start(),
    tools: (signal, user): Promise<ReadonlyMap<string, Tool>> => (user === undefined ? common : of(user)).tools(signal),
    servers: (user) => (user === undefined ? common : of(user)).servers(),
    async close() {
      await Promise.all([common.close(), ...[...users.values()].map(({ own }) => closeAll(own))])
    },
  }
}

const closeAll = (servers: readonly McpServer[]): Promise<unknown> =>
  Promise.allSettled(servers.map((server) => server.close()))
