// The sign-ins to MCP servers. Agents without such a server load nothing of it.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import type { SignInAlerts } from '../supervision/sign-ins/sign-in-alerts.ts'
import { createSignInDesk, type SignInDesk } from '../supervision/sign-ins/sign-in-desk.ts'
import type { Network } from '../tools/http/service/service-http.ts'
import { type AuthServer, authServerOf } from '../tools/mcp/auth/sign-in.ts'
import type { SignIns } from '../tools/mcp/auth/sign-ins.ts'
import type { Known } from './open-access.ts'

/** How much of an answer of an authorization server is read. */
const MOST_BYTES = 256 * 1024

interface Deps {
  connections: Connections
  proxyVariables: ProxyVariables | null
  clock: Clock
  log: Logger
  version: string
  /** Tests have another one. */
  network?: Network
}

/** Null: no agent has a server that wants a sign-in. */
export async function openSignIns(
  agents: readonly Pick<AgentDefinition, 'tools'>[],
  { connections, proxyVariables, clock, log, version, network }: Deps,
): Promise<SignIns | null> {
  const found = agents.flatMap(({ tools }) =>
    tools.flatMap((one) => (one.type === 'mcp' ? (authServerOf(one) ?? []) : [])),
  )
  if (found.length === 0) return null
  const { createSignIns } = await import('../tools/mcp/auth/sign-ins.ts')
  const { createGuardedFetch } = await import('../tools/mcp/auth/guarded-fetch.ts')
  const { createServiceHttp, systemNetwork } = await import('../tools/http/service/service-http.ts')
  const pool = connections.pool({ proxyVariables })
  const http = createServiceHttp({ connections, pool, network: network ?? systemNetwork, maxBytes: MOST_BYTES })
  // Agents may share a server.
  const servers = [...new Map(found.map((one) => [JSON.stringify([one.name, one.url]), one])).values()]
  return createSignIns(servers, {
    clock,
    log,
    fetch: pool.fetch,
    guarded: (url, allowPrivate) => createGuardedFetch({ http, clock, version }, url, allowPrivate),
  })
}

/** Opens them on the store, with whoever is told of them. */
export function createMcpSignIns(
  { mcpSignIns: signIns, replica, consoleUrl: base, parts, audit, clock }: Known,
  alerts: SignInAlerts,
): SignInDesk {
  signIns?.open({
    store: replica.shared,
    base,
    listener: {
      needed: (server, user, why) => void alerts.needed(server, user, why),
      done: (server, user) => void alerts.done(server, user),
    },
  })
  const uses = ({ definition: { tools } }: Known['parts'][number], { name, url }: AuthServer): boolean =>
    tools.some((one) => one.type === 'mcp' && one.name === name && authServerOf(one)?.url === url)
  return createSignInDesk({
    signIns,
    agentsOf: (server) => parts.filter((one) => uses(one, server)).map(({ definition }) => definition.name),
    audit,
    now: () => clock.now(),
  })
}
