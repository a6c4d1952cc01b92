import type { Route } from '../../route.ts'
import type { RequirePassphrase } from './require-passphrase.ts'

/**
 * Commands that tell an agent something or restrict it. Every other request that changes something counts as a decision, also one
 * that is added later.
 */
const commands: ReadonlySet<string> = new Set([
  // It only removes what the server itself removes within the hour.
  'POST /sessions/purge',
  // They read, and do what the server does by itself within seconds.
  'POST /knowledge/search',
  'POST /knowledge/:id/update',
  'POST /sessions/:id/pause',
  'POST /sessions/:id/terminate',
  'POST /sessions/:id/steer',
  'POST /sessions/:id/task',
  'POST /workspaces/:id/tasks',
  'POST /sessions/:id/nudge',
  'POST /sessions/:id/checkpoint',
  'POST /alerts/:id/nudge',
])

/** Reading, and what agents do: their role can decide nothing. */
const decidesNothing = ({ method, path, role }: Route): boolean =>
  method === 'GET' || role === 'agent' || commands.has(`${method} ${path}`)

/** The same routes. Those that decide ask for the operator's passphrase when they are reached through the local socket. */
export const guardDecisions = (routes: readonly Route[], requirePassphrase: RequirePassphrase): Route[] =>
  routes.map((route) => {
    if (decidesNothing(route)) return route
    return {
      ...route,
      handle(request, reply) {
        const asked =
          route.check === undefined
            ? requirePassphrase(request)
            : route.check(request).then(() => requirePassphrase(request))
        return asked === null ? route.handle(request, reply) : asked.then(() => route.handle(request, reply))
      },
    }
  })
