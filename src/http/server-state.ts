import type { Logger } from '../domain/logger.ts'

/** The state only moves forward, in this order. It may skip steps. */
export const serverStates = ['initializing', 'ready', 'running', 'shutting_down', 'stopped'] as const

export type ServerStateName = (typeof serverStates)[number]

export interface ServerState {
  readonly current: ServerStateName
  /** True in `ready` and `running`. */
  readonly takesWork: boolean
  /** Ignores a step back: a late "ready" must not reopen a server that is stopping. */
  advance(to: ServerStateName): void
}

export function createServerState(log: Logger): ServerState {
  let current: ServerStateName = 'initializing'
  return {
    get current() {
      return current
    },
    get takesWork() {
      return current === 'ready' || current === 'running'
    },
    advance(to) {
      if (serverStates.indexOf(to) <= serverStates.indexOf(current)) return
      current = to
      log.debug('server state', { state: to })
    },
  }
}
