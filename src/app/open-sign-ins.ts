// The sign-ins to MCP servers. Agents without such a server load nothing of it.

import type { AgentDefinition } from '../domain/agent/agent.ts'
import type { Clock } from '../domain/clock.ts'
import type { Logger } from '../domain/logger.ts'
import type { Connections } from '../outgoing/connections.ts'
import type { ProxyVariables } from '../outgoing/proxy-choice.ts'
import { createOpenSession } from '../supervision/sessions/open-session.ts'
import type { TakeStep } from '../supervision/sessions/take-step.ts'
import { createServerSession } from '../supervision/sessions/workspace-session.ts'
import { createSignInAlerts } from '../supervision/sign-ins/sign-in-alerts.ts'
import { createSignInDesk, type SignInDesk, type SignInServer } from '../supervision/sign-ins/sign-in-desk.ts'
import { authServerOf } from '../tools/mcp/auth/sign-in.ts'
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
}

/** Null: no agent has a server that wants a sign-in. */
export async function openSignIns(
  agents: readonly Pick<AgentDefinition, 'tools'>[],
  { connections, proxyVariables, clock, log, version }: Deps,
): Promise<SignIns | null> {
  const found = agents.flatMap(({ tools }) =>
    tools.flatMap((one) => (one.type === 'mcp' ? (authServerOf(one) ?? []) : [])),
  )
  if (found.length === 0) return null
  const { createSignIns } = await import('../tools/mcp/auth/sign-ins.ts')
  const { createGuardedFetch } = await import('../tools/mcp/auth/guarded-fetch.ts')
  const { createServiceHttp, systemNetwork } = await import('../tools/http/service/service-http.ts')
  const pool = connections.pool({ proxyVariables })
  const http = createServiceHttp({ connections, pool, network: systemNetwork, maxBytes: MOST_BYTES })
  // Agents may share a server.
  const servers = [...new Map(found.map((one) => [JSON.stringify([one.name, one.url]), one])).values()]
  return createSignIns(servers, {
    clock,
    log,
    fetch: pool.fetch,
    guarded: (url, allowPrivate) => createGuardedFetch({ http, clock, version }, url, allowPrivate),
  })
}

/** From now on they are kept in the store, and an alert asks for them. */
export function startSignIns(
  signIns: SignIns,
  { replica, consoleUrl: base, settings, store, sessionLog: log, clock, ids, log: logger }: Known,
  takeStep: TakeStep,
): void {
  const { maxConcurrentSessions: perOwner, maxConcurrentSessionsTotal: total } = settings.supervision
  const openSession = createOpenSession({ log, clock, ids, logger, maxOpen: { perOwner, total }, place: null })
  const sessionOf = createServerSession({ store, openSession, takeStep })
  const alerts = createSignInAlerts({ takeStep, sessionOf, ids, logger })
  signIns.open({
    store: replica.shared,
    base,
    listener: {
      needed: (server, user, why) => void alerts.needed(server, user, why),
      done: (server, user) => void alerts.done(server, user),
    },
  })
}

/** Where people sign in. */
export function createDesk({ mcpSignIns: signIns, parts, replica, audit, clock }: Known): SignInDesk {
  const uses = ({ definition: { tools } }: Known['parts'][number], { name, url }: SignInServer): boolean =>
    tools.some((one) => one.type === 'mcp' && one.name === name && authServerOf(one)?.url === url)
  return createSignInDesk({
    signIns,
    async forget(user) {
      const { forgetSignIns } = await import('../tools/mcp/auth/kept-sign-ins.ts')
      return forgetSignIns(replica.shared, user)
    },
    agentsOf: (server) => parts.filter((one) => uses(one, server)).map(({ definition }) => definition.name),
    audit,
    now: () => clock.now(),
  })
}
